from core.query.glossary import expansions, propose

WORDS = {"PM": ("performance monitoring",), "ORM": ("object relational mapper", "SQLAlchemy")}


def test_terms_and_meanings_lead_to_each_other():
    assert expansions("PM counters", WORDS) == ("performance monitoring",)
    assert expansions("Performance  monitoring of cells", WORDS) == ("PM",)
    assert expansions("SQLAlchemy session", WORDS) == ("ORM", "object relational mapper")


def test_only_whole_words_in_the_right_case():
    assert expansions("call at 5 pm", WORDS) == ()
    assert expansions("PMs and DORMs", WORDS) == ("performance monitoring",)


def test_acronyms_are_proposed_from_texts():
    texts = [
        "Performance Monitoring (PM) collects counters.",
        "The command line interface (CLI) is small. CSRF (cross-site request forgery) is an attack.",
        "Some words (NOTE) in brackets, and Performance Management (PM).",
        "Performance Monitoring (PM) again.",
    ]
    found = propose(texts)
    assert found["PM"] == ("performance monitoring", "performance management")
    assert found["CLI"] == ("command line interface",)
    assert found["CSRF"] == ("cross-site request forgery",)
    assert "NOTE" not in found
    assert propose(texts, least=2) == {"PM": ("performance monitoring",)}

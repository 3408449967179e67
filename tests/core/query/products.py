"""Products of different kinds of release names."""

from core.domain import Product, Release


def _product(name, aliases, *releases):
    built = []
    for label, other, marks in releases:
        built.append(Release(label, tuple(other), "latest" in marks, "lts" in marks))
    return Product(name, tuple(aliases), tuple(built))


PRODUCTS = {
    "flask": _product(
        "Flask",
        ["flask"],
        ("2.0", ["2.0.x", "v2.0"], ""),
        ("2.3", ["2.3.x", "v2.3"], ""),
        ("3.1", ["3.1.x", "v3.1"], "latest"),
    ),
    "netpilot": _product(
        "NetPilot",
        ["NP"],
        ("R16.4", [], ""),
        ("R17.1", [], "lts"),
        ("R17.2", [], ""),
        ("R17.3", [], "latest"),
    ),
    "telecom": _product("NetPilot", [], ("17.10", [], ""), ("17.20", [], ""), ("17.30", [], "latest")),
    "studio": _product(
        "Harbor Studio", ["harbor"], ("2023.1", [], "lts"), ("2023.2", [], ""), ("2024.1", [], "latest")
    ),
    "ubuntu": _product(
        "Ubuntu",
        [],
        ("focal", ["20.04", "20.04 LTS", "Focal Fossa"], "lts"),
        ("jammy", ["22.04", "22.04 LTS", "Jammy Jellyfish"], "lts"),
        ("noble", ["24.04", "24.04 LTS", "Noble Numbat"], "lts latest"),
    ),
    "quill": _product("Quill", ["quilljs"], ("v1", [], ""), ("v2", [], ""), ("v3", [], "latest")),
    "kubernetes": _product(
        "Kubernetes", ["k8s"], ("1.9", [], ""), ("1.10", [], ""), ("1.29", [], ""), ("1.30", [], "latest")
    ),
    "postgres": _product(
        "PostgreSQL", ["postgres", "pg"], ("14", [], ""), ("15", [], ""), ("16", [], ""), ("17", [], "latest")
    ),
}

"""One line of configuration, read and turned into an object."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from core.errors import EncoderError
from core.models.llama_index.integration import Integration, build, is_integration
from core.settings import load_settings

MOCK = "llama_index.core.embeddings.MockEmbedding"
EMBEDDING = "llama_index.core.base.embeddings.base:BaseEmbedding"
ROOT = Path(__file__).parents[4]
ANYTHING = "builtins:object"


class Anything:
    """A class whose options can be looked at."""

    def __init__(self, **options: object) -> None:
        self.options = options

    @classmethod
    def made(cls, **options: object) -> Anything:
        """Make one by another way."""
        return cls(way="made", **options)


class Picky:
    """A class that tells its key when it fails."""

    def __init__(self, api_key: str) -> None:
        raise ValueError(f"the key {api_key} is not known")


def made(line: str, kind: str = ANYTHING) -> Integration:
    return build(line, "EMBEDDING_MODEL", kind, EncoderError)


def refused(line: str, kind: str = ANYTHING) -> str:
    with pytest.raises(EncoderError) as caught:
        made(line, kind)
    assert caught.value.__context__ is None or caught.value.__suppress_context__, "a log would tell it"
    return str(caught.value)


@pytest.mark.parametrize("line", [MOCK, f"{MOCK}(embed_dim=8)", f"{__name__}:Any", f"{MOCK}(embed_dim=8"])
def test_a_class_is_told_from_a_model(line: str) -> None:
    assert is_integration(line)


@pytest.mark.parametrize(
    "name", ["all-MiniLM-L6-v2", "BAAI/bge-m3", "/models/mine", "./m", "C:\\m", "qwen3:8b"]
)
def test_a_name_or_a_folder_is_no_class(name: str) -> None:
    assert not is_integration(name)


def test_options_are_values_with_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPU_KEY", "sesame")
    found = made(
        f'{__name__}:Anything(a="x, (y)", b=-1.5, c=[1, (2,)], d={{"k": true}}, e=None, api_key=GPU_KEY, '
        f"f={__name__}.Anything(g=1), h={__name__}.Anything)"
    ).made.options
    assert isinstance(found.pop("f"), Anything) and found.pop("h") is Anything
    assert found == {
        "a": "x, (y)", "b": -1.5, "c": [1, [2]], "d": {"k": True}, "e": None, "api_key": "sesame"
    }  # fmt: skip


def test_another_way_to_make_one_can_be_named() -> None:
    assert made(f"{__name__}.Anything.made(n=1)").made.options == {"way": "made", "n": 1}


def test_what_is_not_installed_is_named_as_its_package_is() -> None:
    assert "pip install llama-index-embeddings-openai-like." in refused(
        "llama_index.embeddings.openai_like.OpenAILikeEmbedding(model_name='m')"
    )
    assert "pip install llama-index-postprocessor-no-such." in refused("llama_index.postprocessor.no_such.X")
    assert "pip install the package that has no_such_package." in refused("no_such_package:Thing")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("llama_index.core.embeddings.Nope", "there is no Nope in llama_index.core.embeddings"),
        (f"{MOCK}(8)", "every option of a class has a name"),
        (f"{MOCK}(**x)", "every option of a class has a name"),
        (f"{MOCK}(embed_dim=8", "is no class with options"),
        (f"{MOCK}(embed_dim=)", "the options cannot be read"),
        (f"{MOCK}()()", "the options cannot be read"),
        (f"{MOCK}(embed_dim=NOT_SET_ANYWHERE)", "NOT_SET_ANYWHERE is not set"),
        (f"{MOCK}(embed_dim=1 + 1)", "1 + 1 is no value"),
        (f"{MOCK}(embed_dim=(lambda: 1)())", "is no path of a class"),
        (f"{MOCK}(embed_dim='many')", "cannot be made (ValidationError"),
        ("llama_index.core.llms.MockLLM", "gives no BaseEmbedding of llama-index"),
    ],
)
def test_each_mistake_says_what_to_do(line: str, told: str) -> None:
    said = refused(line, EMBEDDING)
    assert said.startswith("EMBEDDING_MODEL") and told in said


def test_a_line_stands_in_env_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    line = f"{MOCK}(embed_dim=8, x=\"a b\", y='#1', api_key=GPU_KEY)"
    file.write_text(f"EMBEDDING_MODEL={line}\n")
    assert load_settings(str(file)).embedding_model == line


def test_a_key_in_plain_sight_is_refused() -> None:
    said = refused(f"{__name__}:Anything(openai_api_key='sesame')")
    assert "write openai_api_key=MY_OPENAI_API_KEY, without quotes" in said and "sesame" not in said
    assert "sesame" not in refused(f"{__name__}:Anything(a={__name__}.Anything(token='sesame'))")


def test_no_message_tells_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPU_KEY", "sesame")
    assert "the key GPU_KEY is not known" in refused(f"{__name__}:Picky(api_key=GPU_KEY)")
    found = made(f"{__name__}:Anything(api_key=GPU_KEY)")
    assert found.told(RuntimeError("no sesame here")) == "RuntimeError: no GPU_KEY here"
    assert "sesame" not in repr(SimpleNamespace(found=found))


def test_llama_index_is_not_imported_where_nothing_names_it() -> None:
    script = (
        "import sys, core.models.embedding.encoder, bot.app.builders.models, core.models.reranker,"
        " core.ingestion.sources.reader;"
        "print([name for name in sys.modules if name.startswith(('llama_index', 'openai'))])"
    )
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
    lent = "core.pipeline.lent"
    importers = [
        path
        for room in ("bot", "core", "storage", "evaluation")
        for path in (ROOT / room).rglob("*.py")
        if "lent" not in path.parts
        and re.search(rf"^\s*(?:from|import) {lent}", path.read_text("utf-8"), re.M)
    ]
    assert not importers, "what is lent imports llama-index"

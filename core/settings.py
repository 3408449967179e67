"""Secrets and switches, from the environment and `.env`; built once in the bootstrap and passed on.

What the product is, its releases, sources and channels stand in `corpora.toml` (`core/catalogue/`).
"""

from __future__ import annotations

import ipaddress
import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AliasChoices, Field, SecretStr, ValidationError, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from core.env_file import ENCODING, entries, mistaken, variable
from core.system.origins import origin_of
from core.system.shards import shards_of

DIGEST = r"(?i)^(?:off|(?:mon|tue|wed|thu|fri|sat|sun) (?:[01]\d|2[0-3]):[0-5]\d)$"
"""A day of the week and a time of the machine's clock, or `off`."""


class Settings(BaseSettings):
    """Everything that differs between two installations and is not about documents."""

    model_config = SettingsConfigDict(
        env_file=".env", env_file_encoding=ENCODING, extra="ignore", frozen=True, env_ignore_empty=True
    )

    # where things are
    home: Path = Field(Path("~/.threadlore"), alias="THREADLORE_HOME")
    """Folder that holds database, indexes, logs; owned by one process at a time."""
    config: Path | None = Field(None, alias="THREADLORE_CONFIG")
    """The `corpora.toml` to use."""
    database_url: SecretStr = Field(SecretStr(""), alias="DATABASE_URL")
    """`postgresql://user:password@host/name`; empty for SQLite in the home."""
    cluster: bool = Field(False, alias="CLUSTER")
    """Whether several processes serve on one PostgreSQL, each with a home of its own (docs/scaling.md)."""
    privacy_key: SecretStr = Field(SecretStr(""), alias="PRIVACY_KEY")
    """64 hex digits that one-way names are made with, the same for all processes of a cluster."""
    chroma_url: str = Field("", alias="CHROMA_URL")
    """`http://host:8000` of a Chroma server; empty for the one inside this process."""
    package_index: str = Field(
        "https://pypi.org/simple/",
        validation_alias=AliasChoices("PACKAGE_INDEX", "PIP_INDEX_URL"),
    )
    """Where sources of kind `sdist` come from."""
    github_token: SecretStr = Field(SecretStr(""), alias="GITHUB_TOKEN")
    """For sources of kind `github`: more requests, private repositories, discussions."""

    # the playground
    host: str = Field("127.0.0.1", alias="THREADLORE_HOST")
    port: int = Field(8080, alias="THREADLORE_PORT", ge=0, le=65535)
    allowed_hosts: Annotated[tuple[str, ...], NoDecode] = Field((), alias="THREADLORE_ALLOWED_HOSTS")
    """Names that a proxy in front of the web server is known by."""
    playground: bool | None = Field(None, alias="THREADLORE_PLAYGROUND")
    """Whether the playground is served; where this is not said, unless a chat platform is configured."""
    playground_token: SecretStr = Field(SecretStr(""), alias="PLAYGROUND_TOKEN")
    """What opens the playground where it is not a demo on this machine; made at each start where empty."""
    dashboard_token: SecretStr = Field(SecretStr(""), alias="DASHBOARD_TOKEN")
    """What opens dashboard and metrics; needed where they are not for this machine alone."""

    # editors
    mcp_tokens: SecretStr = Field(SecretStr(""), alias="MCP_TOKENS")
    """Who may ask over `threadlore mcp --http`: `name:token,other:token`."""

    # the widget on documentation sites
    widget_origins: Annotated[tuple[str, ...], NoDecode] = Field((), alias="WIDGET_ORIGINS")
    """Sites whose pages may show it (`https://docs.example.org`); it is off where there are none."""
    widget_per_minute: float = Field(6.0, alias="WIDGET_PER_MINUTE", gt=0)
    """Questions from one address."""
    widget_total_per_minute: float = Field(60.0, alias="WIDGET_TOTAL_PER_MINUTE", gt=0)
    """Questions of all readers together."""
    widget_proxies: Annotated[tuple[str, ...], NoDecode] = Field((), alias="WIDGET_PROXIES")
    """Addresses and networks of proxies that are believed who asks (`X-Forwarded-For`)."""

    # Slack
    slack_bot_token: SecretStr = Field(SecretStr(""), alias="SLACK_BOT_TOKEN")
    slack_app_token: SecretStr = Field(SecretStr(""), alias="SLACK_APP_TOKEN")
    slack_api_url: str = Field("https://slack.com/api/", alias="SLACK_API_URL")
    slack_streaming: bool = Field(True, alias="SLACK_STREAMING")
    """Whether answers stream by Slack's own methods: smooth for who asked; others see the finished one."""

    slack_votes: Literal["buttons", "reactions", "both"] = Field("reactions", alias="SLACK_VOTES")
    """How people vote under an answer: by buttons, or by emoji that the bot puts there."""

    # Discord
    discord_token: SecretStr = Field(SecretStr(""), alias="DISCORD_TOKEN")
    discord_api_url: str = Field("https://discord.com/api/v10", alias="DISCORD_API_URL")
    discord_gateway_url: str = Field("wss://gateway.discord.gg/", alias="DISCORD_GATEWAY_URL")
    discord_votes: Literal["buttons", "reactions", "both"] = Field("reactions", alias="DISCORD_VOTES")
    """The same on Discord."""
    discord_shard_count: int | None = Field(None, alias="DISCORD_SHARD_COUNT", ge=0)
    """Shards of the bot in all processes together; 0 (`auto`) for as many as Discord recommends."""
    discord_shard_ids: Annotated[tuple[int, ...], NoDecode] = Field((), alias="DISCORD_SHARD_IDS")
    """Those that this process connects, as `0,1` or `0-3`; all where it is empty."""

    # votes of the time in which nobody listened
    recount_hours: float = Field(48.0, alias="RECOUNT_HOURS", ge=0)
    """Age up to which answers are looked at for votes that were put or taken back meanwhile; 0 for never."""
    recount_messages: int = Field(200, alias="RECOUNT_MESSAGES", ge=0)
    """Messages that are looked at on a platform, the newest first."""

    # who may do what
    admins: Annotated[tuple[str, ...], NoDecode] = Field((), alias="THREADLORE_ADMINS")
    """People (`slack:U1`, `discord:2`) who are admins beside those the platform names."""
    helpers: Annotated[tuple[str, ...], NoDecode] = Field((), alias="THREADLORE_HELPERS")
    """People whose votes weigh more."""
    admin_channels: Annotated[tuple[str, ...], NoDecode] = Field((), alias="THREADLORE_ADMIN_CHANNEL")
    """Channels (`slack:C1`) in which the people who run the bot are told what they should know."""
    gaps_digest: str = Field("mon 09:00", alias="GAPS_DIGEST", pattern=DIGEST)
    """When they are told each week what was not answered: a day and a time, or `off`."""

    # models
    ollama_host: str = Field("http://127.0.0.1:11434", alias="OLLAMA_HOST")
    """Where Ollama serves, several addresses with commas between; `off` to do without a model."""
    ollama_model: str = Field("qwen3:8b", alias="OLLAMA_MODEL")
    ollama_timeout: float = Field(120.0, alias="OLLAMA_TIMEOUT", gt=0)
    """Seconds without a byte from the server after which a call is given up."""
    answer_timeout: float = Field(300.0, alias="ANSWER_TIMEOUT", gt=0)
    """Seconds from the first word of an answer to its last after which it is given up."""
    ollama_num_ctx: int = Field(8192, alias="OLLAMA_NUM_CTX", ge=1024)
    """Tokens of context asked of Ollama, and used at most; prompts are cut to fit it."""
    ollama_parallel: int = Field(1, alias="OLLAMA_PARALLEL", ge=1)
    """Calls at once to each; more than the server's OLLAMA_NUM_PARALLEL only wait there instead of here."""
    ollama_keep_alive: str = Field("30m", alias="OLLAMA_KEEP_ALIVE")
    model_server: str = Field("", alias="MODEL_SERVER")
    """Servers that speak OpenAI's protocol and write answers instead of Ollama, with commas between."""
    model_name: str = Field("", alias="MODEL_NAME")
    """The model that is asked there; the first that they serve where it is empty."""
    model_key: SecretStr = Field(SecretStr(""), alias="MODEL_KEY")
    model_parallel: int = Field(4, alias="MODEL_PARALLEL", ge=1)
    """Calls at once to each of them."""
    llm: str = Field("", alias="LLM")
    """A class of llama-index that writes answers instead of both."""
    embedding_model: str = Field("all-MiniLM-L6-v2", alias="EMBEDDING_MODEL")
    """The packaged MiniLM, any sentence-transformers model by name or folder, `ollama:NAME`, or a class of
    llama-index."""
    embedding_device: Literal["auto", "cpu", "cuda"] = Field("auto", alias="EMBEDDING_DEVICE")
    """What embeds documents: a GPU where there is one, the processor, or a GPU and nothing else."""

    recipe: str = Field("threadlore", alias="RECIPE")
    """The stages that answer, and their order: a module of `core/recipes`."""
    wikidata_url: str = Field("", alias="WIKIDATA_URL", pattern=r"^$|^https?://\S+$")
    """Wikidata's SPARQL endpoint, which `RECIPE=graph_context` asks about names in public questions."""
    wikidata_contact: str = Field("", alias="WIKIDATA_CONTACT", pattern=r"^[^()\r\n]*$")
    """A page or an address at which the person who runs this bot is reached: Wikimedia wants to know."""
    rebel_model: str = Field("", alias="REBEL_MODEL")
    """A model that writes relations for `RECIPE=graph_context`, by name or folder (extra `rebel`)."""
    retriever: str = Field("fusion", alias="RETRIEVER")
    """How pages are found: a module of `core/retrieval/retrievers`."""
    reranker_model: str = Field("", alias="RERANKER_MODEL")
    """A cross-encoder by name or folder (`ms-marco-MiniLM-L12-v2` is in the extra `reranker`), or a class of
    llama-index, that orders what was found; or none."""

    learn_hours: float = Field(24.0, alias="LEARN_HOURS", ge=0)
    """Hours after which the ranking is learned from votes again, where there are new ones; 0 for never."""

    pregenerate: Literal["rules", "off"] = Field("off", alias="PREGENERATE")
    """Whether rules make questions and answers of documents when they are read; a model does by command."""

    # what the model does before it writes the answer (QAMR; docs/decisions/retrieval.md, S-04)
    fast: bool = Field(False, alias="FAST")
    """Whether rules do all of it: one call of the model a question."""
    model_steps: Annotated[tuple[Literal["understand", "reduce", "select", "again"], ...], NoDecode] = Field(
        ("understand", "again"), alias="MODEL_STEPS"
    )
    """What the model does, where rules are in doubt (understand) or always (reduce, select)."""
    steps_seconds: float = Field(15.0, alias="STEPS_SECONDS", ge=0)
    """Seconds that it may take for that before the answer begins."""
    selected_chunks: int = Field(3, alias="SELECTED_CHUNKS", ge=1, le=8)
    """Chunks that the model selects to answer from."""

    # memory (ComRAG; defaults for MiniLM: docs/decisions/memory.md, M-09)
    memory_decision: Literal["learned", "paper"] = Field("learned", alias="MEMORY_DECISION")
    """What reuse is decided by: the ways a question is asked and the next topic, or ComRAG's δ alone."""
    memory_reach: float = Field(0.674, alias="MEMORY_REACH", ge=0, le=1)
    """Closeness from which `learned` reuses where no other topic is near."""
    reuse_threshold: float = Field(0.84, alias="MEMORY_DELTA", ge=0, le=1)
    cluster_threshold: float = Field(0.6, alias="MEMORY_TAU", ge=0, le=1)
    quality_threshold: float = Field(0.6, alias="MEMORY_GAMMA", ge=0, le=1)
    min_voters: int = Field(1, alias="MEMORY_MIN_VOTERS", ge=1)
    """Known people who must have voted an answer good before it is reused in public."""
    newcomer_days: float = Field(7.0, alias="MEMORY_NEWCOMER_DAYS", ge=0)
    """Days for which somebody new is a stranger, whose vote needs a known person's; 0 for nobody."""
    votes_per_hour: int = Field(30, alias="MEMORY_VOTES_PER_HOUR", ge=3)
    """Votes of one person, or people voting on one answer, beyond which it is a burst."""
    guard_by_model: bool = Field(False, alias="MEMORY_GUARD_MODEL")
    """Whether the model must agree, too, that a question is one that was answered before."""
    judged_by_model: bool = Field(False, alias="MEMORY_JUDGE_MODEL")
    """Whether the model says how well its answer is supported, which is part of the score before any vote."""
    judge_model: str = Field("", alias="JUDGE_MODEL")
    """The model on the same servers that judges answers in `evaluate`; empty for the one that writes them."""
    bertscore_model: str = Field("", alias="BERTSCORE_MODEL")
    """A model of bert-score, or a folder with one, and `#layer`; part of that score, too. Empty for none."""
    memory_limit: int = Field(0, alias="MEMORY_LIMIT", ge=0)
    """Pairs that each store of a release keeps at most; 0 for no limit."""

    language: str = Field("en", alias="THREADLORE_LANGUAGE", pattern=r"^[a-z]{2,3}([-_][A-Za-z0-9_-]+)?$")
    """What is spoken where neither words nor thread nor a person's client tell; LANGUAGE is the machine's."""

    # limits
    questions_per_minute: float = Field(6.0, alias="QUESTIONS_PER_MINUTE", gt=0)
    """Per person; a channel may take five times as many, a workspace twenty times."""
    questions_per_day: int = Field(0, alias="QUESTIONS_PER_DAY", ge=0)
    """Per person; 0 for any number."""
    workspace_questions_per_day: int = Field(0, alias="WORKSPACE_QUESTIONS_PER_DAY", ge=0)
    """Of everybody on one platform together; 0 for any number."""
    max_passages: int = Field(200_000, alias="MAX_PASSAGES", ge=0)
    """Passages that the corpus of one release has at most; 0 for no limit."""
    parse_seconds: int = Field(120, alias="PARSE_SECONDS", ge=1)
    """Processor time that one document may take; a PDF ten times that, an archive or an export five times."""
    parse_memory_mb: int = Field(1_000, alias="PARSE_MEMORY_MB", ge=300)
    """Megabytes of address space that one document may take."""
    disk_reserve_mb: int = Field(500, alias="DISK_RESERVE_MB", ge=0)
    """Megabytes of the home's disk that a reindex leaves free; 0 for none."""
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field("INFO", alias="LOG_LEVEL")
    log_format: Literal["text", "json"] = Field("text", alias="LOG_FORMAT")
    """Lines for people, or a JSON object each for a log collector."""

    # how long what people leave is kept, in days; 0 for ever
    retention_questions_days: int = Field(365, alias="RETENTION_QUESTIONS_DAYS", ge=0)
    """Texts of questions and answers; what memory holds stays, without who asked."""
    retention_votes_days: int = Field(365, alias="RETENTION_VOTES_DAYS", ge=0)
    """Who voted; the votes themselves stay, under one-way names."""
    retention_logs_days: int = Field(30, alias="RETENTION_LOGS_DAYS", ge=0)
    """Log files below the home, and the audit log; with 0 no log files are written at all."""

    def has(self, variable: str) -> bool:
        """Return True if the field of a variable, such as `SLACK_BOT_TOKEN`, holds something."""
        fields = {_variable(name): name for name in Settings.model_fields}
        value = getattr(self, fields[variable])
        return bool(str(value.get_secret_value() if isinstance(value, SecretStr) else value or "").strip())

    @field_validator(
        *("admins", "helpers", "admin_channels", "allowed_hosts", "model_steps"),
        *("widget_origins", "widget_proxies"),
        mode="before",
    )
    @classmethod
    def _comma_separated(cls, value: object) -> object:
        if isinstance(value, str):
            return tuple(part.strip() for part in value.split(",") if part.strip())
        return value

    @field_validator("admins", "helpers", "admin_channels", mode="after")
    @classmethod
    def _ids(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not all(re.fullmatch(r"terminal|[a-z]+:\S+", one) for one in value):  # or who types into `chat`
            raise ValueError("write each as platform and id, such as slack:U0123, with commas between")
        return value

    @field_validator("allowed_hosts", mode="after")
    @classmethod
    def _hosts(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not all(re.fullmatch(r"[A-Za-z0-9._-]+", name) for name in value):
            raise ValueError("write names such as bot.example.org, without port, with commas between")
        return value

    @field_validator("widget_origins", mode="after")
    @classmethod
    def _origins(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(origin_of(origin) for origin in value))

    @field_validator("widget_proxies", mode="after")
    @classmethod
    def _networks(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(str(ipaddress.ip_network(proxy, strict=False)) for proxy in value)

    @field_validator("privacy_key", mode="after")
    @classmethod
    def _hex(cls, value: SecretStr) -> SecretStr:
        if re.fullmatch(r"(?:[0-9a-fA-F]{64})?", value.get_secret_value()):
            return value
        raise ValueError("write 64 hex digits, such as `openssl rand -hex 32` makes")

    @field_validator("discord_shard_count", mode="before")
    @classmethod
    def _auto(cls, value: object) -> object:
        return 0 if isinstance(value, str) and value.strip().lower() == "auto" else value

    @field_validator("discord_shard_ids", mode="before")
    @classmethod
    def _shards(cls, value: object, info: ValidationInfo) -> tuple[int, ...]:
        written = value if isinstance(value, str) else ",".join(map(str, value))  # type: ignore[call-overload]
        return shards_of(written, info.data.get("discord_shard_count"))

    @field_validator("ollama_host", mode="after")
    @classmethod
    def _off(cls, value: str) -> str:
        return "" if value.lower() in ("off", "none") else value

    @field_validator("home", mode="after")
    @classmethod
    def _expanded(cls, value: Path) -> Path:
        return value.expanduser().absolute()


def load_settings(env_file: str | None = ".env", **given: object) -> Settings:
    """Read the environment and `.env`; `given` values, by field name, win unless they are None.

    Raises ConfigurationError that names the variable and what it may hold.
    """
    named = {_variable(name): value for name, value in given.items() if value is not None}
    older = entries(env_file).get("LANGUAGE") if env_file else None  # its name until November 2026
    if env_file and older and not variable("THREADLORE_LANGUAGE", env_file):
        named.setdefault("THREADLORE_LANGUAGE", older)
    try:
        return Settings(_env_file=env_file, **named)  # type: ignore[call-arg, arg-type]
    except ValidationError as error:
        raise mistaken(error.errors()[0], _secret()) from None


def secrets_in(env_file: Path) -> list[str]:
    """Return the variables of a file such as `.env` that hold secrets."""
    return [name for name, value in entries(env_file).items() if value and name in _secret()]


def _secret() -> list[str]:
    return [_variable(name) for name, field in Settings.model_fields.items() if field.annotation is SecretStr]


def _variable(name: str) -> str:
    """Return the environment variable of a field."""
    alias = Settings.model_fields[name].validation_alias
    return str(alias.choices[0] if isinstance(alias, AliasChoices) else alias)


VARIABLES = tuple(map(_variable, Settings.model_fields))

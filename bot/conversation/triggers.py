"""Decide which messages are for the bot; greetings and thanks get a hint for an answer."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import dropwhile, takewhile

from bot.ports.chat import Chat, Message, Reply
from bot.privacy.opted_out import OptedOut
from core.community.overrides import ChannelModes
from core.community.unsolicited import UnsolicitedReplyPolicy
from core.domain import MessageRef, Scope
from core.errors import PlatformError
from core.insights.examples import Examples
from core.languages import _
from core.ports import ConversationStore
from core.ports.conversations import Claim
from core.query.asking import asks_for_help, is_aside
from core.text.words import looks_like_question, one_line, ruled
from core.vocabulary import words_of

log = logging.getLogger(__name__)

ABOVE = 12
"""Messages above a mention without words that are read for the question that it is about."""


class Triggers:
    """Decides by channel mode, mention and thread whether a message is answered."""

    def __init__(
        self,
        conversations: ConversationStore,
        modes: ChannelModes,
        opted_out: OptedOut,
        unsolicited: UnsolicitedReplyPolicy,
    ) -> None:
        self._conversations = conversations
        self._modes = modes
        self._opted_out = opted_out
        self._unsolicited = unsolicited

    async def at_once(self, message: Message) -> tuple[Message, bool] | None:
        """Return a message that is or may be for the bot, and whether that is certain; None for others.

        One that nobody called the bot for is marked `unasked`. A mention or a direct message
        without words is for the bot too. Neither the platform nor a model is asked here.
        """
        if message.author.bot:
            return None
        if message.scope.kind == "direct":
            return message, True
        if not (message.text.strip() or message.mentions_bot):
            return None
        mode = await self._modes.mode(message.ref.channel_key)
        if mode == "off":
            return None
        if message.mentions_bot:
            return message, True
        if message.ref.thread in ("", message.ref.message):
            uncalled = self._uncalled(message, mode)
            return (uncalled, True) if uncalled else None
        return (message, False) if await self._may_go_on(message) else None

    def _uncalled(self, message: Message, mode: str) -> Message | None:
        """Return a new post if its channel's mode lets the bot answer it; None otherwise."""
        if self._opted_out.is_out(message.author.id) or asks_nothing(message.text):
            return None
        if mode == "forum":
            return replace(message, unasked="forum")
        asks = mode == "questions" and not message.mentions_others and asks_for_help(message.text)
        return replace(message, unasked="questions") if asks else None

    async def _may_go_on(self, message: Message) -> bool:
        """Return True if the author asked last in this thread, or still waits for an answer there."""
        conversation = message.ref.conversation
        # in this order: what is settled between the two looks is seen by one of them
        waiting = await self._conversations.open_in(conversation)
        return self._is_of(message, [*waiting, *await self._last(conversation)])

    async def _last(self, conversation: str) -> list[Claim]:
        """Return the question answered last there, and what was told last: thanks take no thread over."""
        last = await self._conversations.last_told(conversation)
        answered = await self._conversations.last_asked(conversation)
        return [claim for claim in (answered, last) if claim]

    def _is_of(self, message: Message, claims: Sequence[Claim]) -> bool:
        return any(self._opted_out.is_asker(claim, message.author.id) for claim in claims)

    async def goes_on(self, chat: Chat, message: Message) -> bool:
        """Return True if a thread message is a follow-up: by the last asker, and not addressed to others.

        Every earlier message of the thread should be answered by now; one that is not (its process died, and
        so much waits that it takes long) counts as told.
        """
        conversation = message.ref.conversation
        waiting = await self._conversations.open_in(conversation)
        own = next((claim.at for claim in waiting if claim.message == message.key), float("inf"))
        earlier = [claim for claim in waiting if claim.decided and claim.at < own]
        last = await self._last(conversation)
        began = max((claim.at for claim in earlier), default=0.0)
        if not self._is_of(message, [claim for claim in last if claim.at > began] or earlier[-1:]):
            return False
        await self._unsolicited.went_on(conversation)
        if is_solved(message.text) and not message.mentions_others:
            try:
                await chat.solve(message.ref)
            except PlatformError as error:
                log.info("a thread cannot be marked as solved: %s", error)
        if message.mentions_others or asks_nothing(message.text) or is_aside(message.text):
            return False
        try:
            turns = await chat.history(message.ref, ABOVE)
        except PlatformError as error:  # who asked last most likely goes on
            log.info("what was said before a message cannot be read: %s", error)
            return True
        since = takewhile(lambda turn: turn.role == "user", reversed(turns))
        return not any(turn.author != message.author.id and not asks_nothing(turn.text) for turn in since)

    async def above(self, chat: Chat, message: Message) -> tuple[str, tuple[str, ...]] | None:
        """Return the latest question of a person above a message that nothing answered, and its authors.

        None where there is none, or the platform cannot be read.
        """
        try:
            turns = self._opted_out.heard(await chat.history(message.ref, ABOVE))
            first = await chat.question_of(message.ref)
        except PlatformError as error:
            log.info("what was said before a message cannot be read: %s", error)
            return None
        for turn in reversed(turns):
            if turn.role == "assistant":
                return None
            if _asks(turn.text):
                return turn.text, (turn.author,)
        if first is None or first.author.bot or self._opted_out.is_out(first.author.id):
            return None
        return (first.text, first.authors or (first.author.id,)) if _asks(first.text) else None


def _asks(text: str) -> bool:
    return looks_like_question(text) or asks_for_help(text)


def asks_nothing(text: str) -> bool:
    """Return True if a text thanks, greets, calls a question off or says that it is solved."""
    return is_pleasantry(text) or is_greeting(text) or is_solved(text)


def says_nothing_new(message: Message) -> bool:
    """Return True if an edited message asks nothing that could be answered: thanks, an objection, an aside.

    An aside is one only where the bot was not called.
    """
    called = message.mentions_bot or message.scope.kind == "direct"
    return asks_nothing(message.text) or is_objection(message.text) or (not called and is_aside(message.text))


_WORDS = frozenset(words_of(__package__)["pleasantries"].split())
_IN_SIGNS = re.compile("|".join(words_of(__package__)["in_signs"].split()))
_GREETINGS = frozenset(words_of(__package__)["greetings"].split())
_BESIDE = frozenset({"guten", "gott", "zusammen", "todos", "a", "à", "tous", "tarde", "день", "threadlore"})
_ABOUT_ITSELF = re.compile(
    r"(?:so |and |but |please )?(?:who|what) (?:exactly )?are you|what(?:'s| is) your name"
    r"|what (?:all )?(?:can|could|do) you (?:do|help(?: me)? with|know|answer)"
    r"|what (?:can|could|may|should) i ask(?: you)?"
    r"|how (?:do|can|should) i (?:use|ask) you|how do you work|how does this bot work"
    r"|(?:can|could|will) you help(?: me)?|(?:i need )?help(?: me)?"
    r"|wer bist du|was (?:bist|kannst|weißt) du(?: alles)?|wie funktionierst du|kannst du (?:mir )?helfen"
    r"|hilfe|qui[eé]n eres|qu[eé] puedes hacer|ayuda|你是谁|你(?:能|可以|会)做?什么|帮助|帮帮我"
    r"|qui (?:es-tu|êtes-vous)|que (?:sais|peux)-tu faire|aide(?:-moi)?|кто ты|что ты умеешь|помощь|помогите"
)
_POINTERS = frozenset("^?👆☝⬆\ufe0f\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff ")
_ABOVE = re.compile(
    r":(?:point_up(?:_2)?|arrow_up):"
    r"|(?:please |hey )*(?:(?:can|could|would|will) you )?(?:please )?"
    r"(?:(?:answer|reply|take a look|have a look|look)"
    r"|(?:help|look)(?: (?:out |with |at |to )?(?:this|that|it|him|her|them|here|above)(?: one| question)?)+)"
    r"(?: please)?"
    r"|any (?:ideas?|thoughts?|clue)|ideas|thoughts|bump|up|do you know(?: this| that| the answer)?"
    r"|(?:what about )?(?:this|that)(?: one)?|see above|kannst du hier helfen|hilf hier(?: mal)?(?: bitte)?"
)
_THIS = r"(?:that|this|it|(?:the|your|that|this) (?:answer|solution|code|command))"
_FAILS = r"work|help|(?:fix|solve|answer) (?:it|that|this|my (?:problem|question))"
_WRONG = r"right|correct|true|working|helpful|it|what i (?:asked|meant|wanted)"
_OBJECTION = re.compile(
    r"(?:(?:no|nope|sorry|hm+|but|well|unfortunately|sadly|still|nein|leider|aber|pero|mais|mas|но) )*(?:"
    rf"(?:{_THIS} )?(?:still |sadly )?(?:(?:does|did) not|(?:does|did)n'?t) (?:really )?(?:{_FAILS})"
    rf"|(?:{_THIS}(?: is| was|'?s) )?(?:still )?(?:wrong|incorrect|wrong answer|broken|not (?:{_WRONG}))"
    rf"|{_THIS} (?:isn'?t|wasn'?t) (?:{_WRONG})"
    r"|(?:still )?(?:the )?same (?:problem|error|issue|thing|result)"
    r"|(?:(?:das|es) )?(?:geht|funktioniert|klappt|hilft|stimmt) (?:so |immer noch |leider |bei |mir )*nicht"
    r"|(?:(?:das|es) )?hat (?:so |leider )?nicht (?:geklappt|funktioniert|geholfen)"
    r"|(?:das ist )?falsch|falsche antwort|(?:eso |esto )?no (?:me )?(?:funciona|funcionó|sirve|ayuda)"
    r"|(?:eso |esto )?(?:no es (?:correcto|así)|está mal)|sigue sin funcionar|(?:c'est )?(?:faux|pas bon)"
    r"|(?:(?:ça|cela) )?(?:ne )?(?:marche|fonctionne) (?:toujours )?pas"
    r"|(?:isso |ainda )*não (?:funciona|funcionou|ajuda|ajudou|deu certo)"
    r"|(?:это |всё |все |еще |ещё )*не (?:работает|помогло|помогает)"
    r"|(?:это )?(?:неправильно|неверно|не то)|non (?:funziona|va)|(?:het )?werkt niet|çalışmıyor|olmadı"
    r"|(?:还是)?(?:不行|不管用|不起作用)|没有?用|没有?效果|这?不对|答非所问|(?:你?回?答)?错了|違います|違う|動きません(?:でした)?|動かない|うまくいきません(?:でした)?"
    r")(?: (?:for me|here|at all|either|though|unfortunately|anymore|bei mir|leider|para mí|chez moi))*"
)
"""That an answer did not help, without anything that could be answered."""
_SOLVED = re.compile(
    r"(?:(?:is|it's|its|that's|this is|problem|(?:the|my) (?:problem|issue) is) )?(?:now )?(?:solved|fixed)"
    r"(?: (?:now|it|for me|(?:the|my) (?:problem|issue)))*"
    r"|(?:that|this|it) (?:has )?(?:solved|fixed|worked|works|did)"
    r"(?: (?:it|that|this|for me|now|(?:the|my) (?:problem|issue)|the trick|like a charm))*"
    r"|(?:it|that|this|everything)(?: is|'?s) (?:now )?working(?: now| for me| again| fine)*"
    r"|works(?: now| for me| perfectly| great| fine| like a charm)*"
    r"|gelöst|(?:das |es )?(?:geht|funktioniert|klappt)(?: jetzt| nun)*"
    r"|jetzt (?:geht|läuft|klappt|funktioniert)(?:'?s| es)?"
    r"|(?:ich )?hab(?:e|'s| es)* (?:hinbekommen|geschafft|gelöst)|(?:danke )?das war'?s"
    r"|(?:das |es )?hat (?:geklappt|geholfen)"
    r"|resuelto|(?:ya )?funciona|ya está|eso era|funcionou|résolu|c'est (?:bon|réglé)|(?:ça|cela) marche"
    r"|заработало|вс[её] работает|разобрал(?:ся|ась)|получилось|(?:已经?)?解决了|搞定了?|好了|動きました"
)
"""That the trouble is over."""
_JOY = frozenset(words_of(__package__)["joy"].split())
"""What stands around "that fixed it"."""
_AGREES = re.compile(
    r"\b(?:(?:that |it )?makes (?:perfect |total |a lot of )?sense|will (?:do|try)"
    r"|hope (?:that|this|it) helps)\b"
)
"""Words that only together agree: "that makes no sense" does not."""
_OBJECTING = re.compile(r"[,.!;:，。！]+")
_CLAUSE = re.compile(r"[,.!?;:¿¡，。！？\n]+|\b(?:and|und|y)\b")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_SMILEY = re.compile(r":[\w+-]+:|[:;]-?[)D(P]|\+1\b")


def points_above(text: str) -> bool:
    """Return True if a text only points at what stands above it: "^", "👆", "can you help here?", "bump"."""
    plain = one_line(ruled(text).lower())
    return bool(plain) and (_POINTERS.issuperset(plain) or bool(_ABOVE.fullmatch(plain.strip(" ?!.…"))))


def is_pleasantry(text: str) -> bool:
    """Return True if a text only thanks, agrees or laughs: no word of it asks or tells anything."""
    plain = _AGREES.sub("ok", _SMILEY.sub(" ", ruled(text)).lower().replace("’", "'"))
    words = _WORD.findall(plain)
    said = (word in _WORDS or _IN_SIGNS.fullmatch(word) for word in words)
    return all(said) and not (words and looks_like_question(plain))


def is_greeting(text: str) -> bool:
    """Return True if a text only greets the bot, or asks who it is, what it can do, or just for help."""
    clauses = _clauses(one_line(_plain(text).replace("please", " ")))
    asks = [bool(_ABOUT_ITSELF.fullmatch(clause)) for clause in clauses]
    greets = [_greets(clause) for clause in clauses]
    idle = [is_pleasantry(clause) for clause in clauses]
    return any(asks + greets) and all(map(any, zip(asks, greets, idle, strict=True)))


def is_objection(text: str) -> bool:
    """Return True if a text says that an answer does not help, and nothing else that could be answered."""
    return _says(_OBJECTION.fullmatch, _clauses(_plain(text), _OBJECTING))


def is_solved(text: str) -> bool:
    """Return True if a text says that the trouble is over, and asks nothing."""
    plain = _plain(text)
    return "?" not in plain and _says(_SOLVED.fullmatch, _clauses(plain))


def _plain(text: str) -> str:
    return one_line(_SMILEY.sub(" ", ruled(text)).lower().replace("’", "'"))


def _clauses(plain: str, between: re.Pattern[str] = _CLAUSE) -> list[str]:
    return [clause.strip() for clause in between.split(plain) if clause.strip()]


def _says(matches: Callable[[str], object], clauses: Sequence[str]) -> bool:
    """Return True if a clause matches, and all others do, too, or only thank, agree or laugh."""
    said = [bool(matches(clause) or matches(_bare(clause))) for clause in clauses]
    return any(said) and all(ok or is_pleasantry(one) for ok, one in zip(said, clauses, strict=True))


def _bare(clause: str) -> str:
    """Return a clause without the thanks and joy around it: "great that fixed it thanks"."""
    words = list(dropwhile(_JOY.__contains__, clause.split()))
    return " ".join(reversed(list(dropwhile(_JOY.__contains__, reversed(words)))))


def _greets(clause: str) -> bool:
    words = _WORD.findall(clause)
    known = all(word in _GREETINGS | _WORDS | _BESIDE or _IN_SIGNS.fullmatch(word) for word in words)
    return known and any(word in _GREETINGS for word in words)


class Hint:
    """Tells people what they can ask, with examples for the channel's release."""

    def __init__(self, product: str, examples: Examples) -> None:
        self._product = product
        self._examples = examples

    async def to(self, message: Message) -> Reply | None:
        """Return the reply to an empty message, a lone "?", a greeting, thanks or a command, else None."""
        if re.match(r"\s*`?/threadlore\b", message.text, re.IGNORECASE):
            return Reply(
                _(
                    "That came to me as a message, and messages run no commands. Type `/threadlore` at the "
                    "beginning of a new message, not in a thread, and choose it from the list that opens."
                )
            )
        if message.text.strip() and not is_greeting(message.text):
            if not is_pleasantry(message.text):
                return None
            if not points_above(message.text):
                said = _("Any time. Ask me whatever else you want to know about {product}.")
                return Reply(said.format(product=self._product))
        said = _(
            "Ask me anything about {product}: write your question after my name, name a release if it is not "
            "the latest, and go on in the thread."
        ).format(product=self._product)
        return await self.with_examples(said, message.ref, message.scope)

    async def with_examples(self, said: str, where: MessageRef, scope: Scope) -> Reply:
        """Return the text with example questions below it, if any are known yet."""
        found = await self._examples.of(where.channel_key, scope)
        if not found:
            return Reply(said)
        listed = "\n".join([_("For example:"), *(f"- {example.text}" for example in found)])
        pairs = " ".join(example.pair for example in found if example.pair)
        return Reply(f"{said}\n\n{listed}", concerns=pairs)

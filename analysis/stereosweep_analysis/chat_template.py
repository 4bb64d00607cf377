"""The child that runs a checkpoint's chat template, and tells what it writes as plain pieces.

The program starts it as `python -I -c TEXT`, one JSON request a line on standard input, one JSON answer a line on
standard output. A template is a stranger's program: it runs in Jinja2's sandbox, and in a process that can open no
file, start no other, and has little memory and time. Jinja2 is all that is needed besides Python.

Requests: {"text", "tokens": {name: text}, "added": [..], "date": "2026-11-26", "switches": {..}} with
  "do": "infer", "thinking": "" | "on" | "off", "longest": n -> {"pieces": what `model.chat` takes} or {"refused": why}
  "do": "render", "conversations": [[{"role", "content"}, ..], ..] -> {"texts": [text or {"refused": why}, ..]}

What the pieces mean stands in src/chat/ChatTemplate.hpp; `Pieces.write` is the same rules a second time, so that they
are proven against the template here, before a word of the job is written with them.
"""

from __future__ import annotations

import contextlib
import datetime
import itertools
import json
import random
import re
import resource
import signal
import sys
from collections.abc import Iterator
from typing import Any

import jinja2
import jinja2.ext
import jinja2.meta
import jinja2.nodes
import jinja2.parser
import jinja2.sandbox
import jinja2.utils

Message = dict[str, str]
Conversation = list[Message]
Switches = dict[str, Any]

PROOF_VERSION = 1
PROOF_CONVERSATIONS = 1000
PROOF_TURNS = 21
ROLES = ("system", "user", "assistant")
MEMORY_BYTES = 1_500_000_000
PROCESSOR_SECONDS = 3  # of the whole process; one rendering has RENDER_SECONDS
PROOF_SECONDS = 10  # once it has written plain conversations in time
RENDER_SECONDS = 1.0
MAX_TEMPLATE_BYTES = 1 << 20
MAX_OUTPUT_BYTES = 8 << 20
OLDEST_JINJA = (3, 1, 6)  # older ones have known ways out of the sandbox

# Marks around a thought: the first pair whose end stands in a template is its own.
THOUGHT_MARKS = (
    ("<think>", "</think>"),
    ("[THINK]", "[/THINK]"),
    ("<seed:think>", "</seed:think>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|channel|>analysis<|message|>", "<|channel|>final<|message|>"),
    ("<|channel>thought\n", "<channel|>"),
    ("<|inner_prefix|>", "<|inner_suffix|>"),
)
# Values with which published templates switch thinking on or off, the usual name first.
SWITCHES: dict[str, dict[str, tuple[Any, ...]]] = {
    "enable_thinking": {"on": (True,), "off": (False,)},
    "thinking": {"on": (True,), "off": (False,)},
    "reasoning": {"on": (True, "on"), "off": (False, "off")},
    "reasoning_effort": {"on": ("high",), "off": ("none", "no_think", "minimal")},
    "thinking_budget": {"on": (-1,), "off": (0,)},
}


class RefusedError(Exception):
    """The template, or the pieces, write nothing for this conversation."""


class NotPiecesError(Exception):
    """What the template writes is not made of pieces as we know them."""


class _GenerationBlock(jinja2.ext.Extension):
    """`{% generation %}` marks what an assistant said for training; its body is written as it stands."""

    tags = {"generation"}  # noqa: RUF012

    def parse(self, parser: jinja2.parser.Parser) -> Any:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


class _Namespace(jinja2.utils.Namespace):
    def __init__(*args: Any, **kwargs: Any) -> None:  # so that `namespace(self=...)` works
        self, rest = args[0], args[1:]
        given = dict(*rest, **kwargs)
        for name in given:
            _Namespace._check(name)
        jinja2.utils.Namespace.__init__(self, given)

    def __setitem__(self, name: str, value: Any) -> None:
        _Namespace._check(name)
        jinja2.utils.Namespace.__setitem__(self, name, value)

    @staticmethod
    def _check(name: Any) -> None:
        if isinstance(name, str) and name.startswith("_"):
            raise jinja2.exceptions.SecurityError(f"a namespace keeps no name like {name!r}")


class _Dict:
    def __call__(self, *args: Any, **kwargs: Any) -> dict[Any, Any]:
        return dict(*args, **kwargs)

    def fromkeys(self, *args: Any, **kwargs: Any) -> dict[Any, Any]:
        return dict.fromkeys(*args, **kwargs)


def _raise_exception(message: str) -> None:
    raise jinja2.exceptions.TemplateError(message)


def _tojson(
    value: Any, ensure_ascii: bool = False, indent: Any = None, separators: Any = None, sort_keys: bool = False
) -> str:
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def environment(date: datetime.datetime) -> jinja2.Environment:
    """As transformers renders chat templates, but with the job's date."""
    made = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[_GenerationBlock, jinja2.ext.loopcontrols]
    )
    made.filters["tojson"] = _tojson
    made.globals.update(
        raise_exception=_raise_exception, strftime_now=date.strftime, dict=_Dict(), namespace=_Namespace
    )
    return made


class TooLongError(BaseException):
    """A rendering took more processor time than any template needs. No template can catch it."""


@contextlib.contextmanager
def _time_limit() -> Iterator[None]:
    def stop(_signal: int, _frame: object) -> None:
        raise TooLongError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, RENDER_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


class Renderer:
    """One template with its special tokens, its date and its switches."""

    def __init__(self, text: str, tokens: dict[str, str], date: str, switches: Switches) -> None:
        if len(text.encode()) > MAX_TEMPLATE_BYTES:
            raise NotPiecesError("the template has more than 1 MiB")
        self.text, self.tokens, self.switches = text, tokens, switches
        self.environment = environment(datetime.datetime.fromisoformat(date))
        self.listed: frozenset[str] = frozenset()  # roles whose content is a list of parts
        try:
            with _time_limit():
                self.tree = self.environment.parse(text)
                self.template = self.environment.from_string(text)
        except (jinja2.exceptions.TemplateError, RecursionError, MemoryError, TooLongError, ValueError) as fault:
            raise NotPiecesError(f"the template is no valid one: {_reason(fault)}") from None

    def with_switches(self, switches: Switches) -> Renderer:
        other = Renderer.__new__(Renderer)
        other.__dict__.update(self.__dict__, switches=switches)
        return other

    def names(self) -> set[str]:
        """Names that the template asks of whoever renders it."""
        return jinja2.meta.find_undeclared_variables(self.tree)

    def __call__(self, conversation: Conversation) -> str:
        messages: list[dict[str, Any]] = [dict(message) for message in conversation]
        for message in messages:
            if message["role"] in self.listed:
                message["content"] = [{"type": "text", "text": message["content"]}]
        try:
            with _time_limit():
                # Piece by piece, so that what grows without end is stopped before it is large.
                parts, size = [], 0
                for part in self.template.generate(
                    **{**self.tokens, **self.switches, "messages": messages, "tools": None, "documents": None},
                    add_generation_prompt=True,
                ):
                    size += len(part.encode())  # half a surrogate pair is no text
                    if size > MAX_OUTPUT_BYTES:
                        raise RefusedError("it writes more than 8 MiB")
                    parts.append(part)
                return "".join(parts)
        except TooLongError:
            raise NotPiecesError(f"the template takes more than {RENDER_SECONDS:g} s of processor time") from None
        except RefusedError:
            raise
        except Exception as fault:
            raise RefusedError(_reason(fault)) from None


def _reason(fault: BaseException) -> str:
    name = "" if type(fault) is jinja2.exceptions.TemplateError else f"{type(fault).__name__}: "
    return (name + str(fault))[:300]


# Rules of a text.

STRIPS = {"none": "", "white_space": None, "newlines": "\n"}
LITTLE: dict[str, Any] = {"left": "none", "right": "none", "blank_lines": "kept"}


def shape(rule: dict[str, Any], text: str) -> str:
    if rule["left"] != "none":
        text = text.lstrip(STRIPS[rule["left"]])
    if rule["right"] != "none":
        text = text.rstrip(STRIPS[rule["right"]])
    if rule["blank_lines"] == "halved":
        text = text.replace("\r\n", "\n").replace("\n\n", "\n")
    return text


class Pieces:
    """Literals between the texts of a conversation, and the rules of each role's text."""

    def __init__(self) -> None:
        self.opening = self.between = self.after_answer = self.closing = ""  # before, user|assistant, assistant|user
        self.handling = "turn"  # turn, merged, last_user, refused
        self.system_prefix = self.system_suffix = ""
        self.rules: dict[str, dict[str, Any]] = {role: dict(LITTLE) for role in ROLES}

    def write(self, conversation: Conversation) -> str:
        system = conversation[0]["content"] if conversation[0]["role"] == "system" else None
        if system is not None and self.handling == "refused":
            raise RefusedError("no system text")
        turns = conversation[system is not None :]
        literals = [self.opening]
        texts: list[tuple[dict[str, Any], str]] = []
        if system is not None and self.handling == "turn":
            literals = [self.system_prefix, self.system_suffix]
            texts.append((self.rules["system"], system))
        for place, message in enumerate(turns):
            text = message["content"]
            if system is not None and self.handling == "merged" and place == 0:
                text = self.system_prefix + shape(self.rules["system"], system) + self.system_suffix + text
            if system is not None and self.handling == "last_user" and place == len(turns) - 1:
                literals[-1] += self.system_prefix
                texts.append((self.rules["system"], system))
                literals.append(self.system_suffix)
            texts.append((self.rules[message["role"]], text))
            last = place == len(turns) - 1
            is_user = message["role"] == "user"
            literals.append(self.closing if last else self.between if is_user else self.after_answer)
        out = []
        for place, (rule, text) in enumerate(texts):
            shaped = shape(rule, text)
            special = rule.get("empty" if text == "" else "blank") if shaped == "" else None
            if special is not None:
                if special.get("refused"):
                    raise RefusedError("an empty text")
                literals[place] = literals[place][: max(0, len(literals[place]) - special["before"])]
                shaped = special["text"]
                literals[place + 1] = literals[place + 1][special["after"] :]
            out += [literals[place], shaped]
        return "".join(out) + literals[-1]


# Inference.


def talk(*texts: str, system: str | None = None) -> Conversation:
    head = [] if system is None else [{"role": "system", "content": system}]
    return head + [{"role": ("user", "assistant")[i % 2], "content": text} for i, text in enumerate(texts)]


U, A, S = "Quxu{}uxuQ", "Quxa{}axaQ", "QuxsxsxQ"


def split_at(text: str, marks: list[str]) -> list[str]:
    """What stands around the marks, each of which stands once, in this order."""
    parts, rest = [], text
    for mark in marks:
        before, found, rest = rest.partition(mark)
        if not found:
            raise NotPiecesError("a text is left out or changed, or the order of the texts is")
        parts.append(before)
    if any(mark in part for mark in marks for part in [*parts, rest]):
        raise NotPiecesError("a text stands twice")
    return [*parts, rest]


def choose_content(render: Renderer) -> None:
    """Whether the contents of messages are texts or lists of parts."""
    for listed in (frozenset(), frozenset(ROLES), frozenset(("user",))):
        render.listed = listed
        with contextlib.suppress(RefusedError):
            if U.format(0) in (out := render(talk(U.format(0)))) and "'type'" not in out:
                return
    render.listed = frozenset()


def infer_literals(render: Renderer, pieces: Pieces) -> None:
    users, answers = [U.format(i) for i in range(3)], [A.format(i) for i in range(2)]
    try:
        one = split_at(render(talk(users[0])), users[:1])
        marks = [users[0], answers[0], users[1], answers[1], users[2]]
        many = split_at(render(talk(*marks)), marks)
    except RefusedError as fault:
        raise NotPiecesError(f"the template refuses a plain conversation: {fault}") from None
    pieces.opening, pieces.closing = one
    pieces.between, pieces.after_answer = many[1:3]
    if many != [one[0], *many[1:3], *many[1:3], one[1]]:
        raise NotPiecesError("what stands around a text depends on its place in the conversation")


def infer_system(render: Renderer, pieces: Pieces) -> None:
    users, answer = [U.format(0), U.format(1)], A.format(0)
    try:
        one = render(talk(users[0], system=S))
        three = render(talk(users[0], answer, users[1], system=S))
    except RefusedError:
        pieces.handling = "refused"
        return
    if S not in one:
        pieces.handling = "refused"
        return
    before, between, _ = split_at(one, [S, users[0]])
    if three.index(S) < three.index(answer):
        pieces.handling, pieces.system_prefix, pieces.system_suffix = "turn", before, between
        return
    parts = split_at(three, [users[0], answer, S, users[1]])
    if not parts[2].startswith(pieces.after_answer):
        raise NotPiecesError("what stands before the last text depends on the system text")
    pieces.handling = "last_user"
    pieces.system_prefix, pieces.system_suffix = parts[2][len(pieces.after_answer) :], parts[3]


SHAPED = (" X ", "\nX\n", "\u00a0X\u3000", "\x1cX\x85", "\r\nX\r\n\r\nY\n\n\nZ\t", "X", " \n X\n ", "\n X \n")


def slot(render: Renderer, pieces: Pieces, role: str, text: str) -> list[tuple[str, str, str]]:
    """Of every kind of place where the role speaks: what stands before a text, what after it, and what the template
    writes there in place of all three."""
    user, answer, other = U.format(0), A.format(0), U.format(1)
    around: dict[str, list[tuple[str | None, ...]]] = {
        "system": [()],
        "assistant": [(user, None, other)],
        "user": [(None,), (None, answer, other), (user, answer, None), (user, answer, None, A.format(1), other)],
    }
    found = []
    for texts in around[role]:
        if role == "system":
            turns = talk(user, system=text)
            parts = [pieces.system_prefix, pieces.system_suffix, user + pieces.closing]
            if pieces.handling == "last_user":
                parts[0] = pieces.opening + parts[0]
            head, left, right, tail = "", parts[0], parts[1], parts[2]
        else:
            turns = talk(*(text if one is None else one for one in texts))
            literals = [pieces.opening]
            literals += [pieces.between if i % 2 == 0 else pieces.after_answer for i in range(len(texts) - 1)]
            literals.append(pieces.closing)
            at, said = texts.index(None), [one or "" for one in texts]
            head = "".join(a + b for a, b in zip(literals[:at], said[:at], strict=True))
            left, right = literals[at : at + 2]
            tail = "".join(a + b for a, b in zip(said[at + 1 :], literals[at + 2 :], strict=True))
        out = render(turns)
        if not (out.startswith(head) and out[len(head) :].endswith(tail)):
            raise NotPiecesError(f"a text of the role {role} changes what stands elsewhere")
        found.append((left, right, out[len(head) : len(out) - len(tail)]))
    return found


def infer_shape(render: Renderer, pieces: Pieces, role: str) -> None:
    kinds = ("none", "white_space", "newlines")
    seen = [(text, place) for text in SHAPED for place in slot(render, pieces, role, text)]
    for blank_lines, left, right in itertools.product(("kept", "halved"), kinds, kinds):
        rule = {"left": left, "right": right, "blank_lines": blank_lines}
        if all(out == before + shape(rule, text) + after for text, (before, after, out) in seen):
            pieces.rules[role] = rule
            return
    raise NotPiecesError(f"what becomes of white space in a text of the role {role} is none of the known rules")


def common_start(left: str, right: str) -> int:
    return next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))


def common_end(left: str, right: str) -> int:
    return common_start(left[::-1], right[::-1])


def cuts(left: str, right: str, out: str) -> dict[tuple[int, str, int], None]:
    """All ways to see `out` as what is left of `left`, an own text, and what is left of `right`."""
    ways: dict[tuple[int, str, int], None] = {}
    for kept in range(common_start(out, left), -1, -1):
        for stays in range(min(common_end(out, right), len(out) - kept), -1, -1):
            ways[(len(left) - kept, out[kept : len(out) - stays], len(right) - stays)] = None
    return ways


def infer_empty(render: Renderer, pieces: Pieces, role: str, text: str) -> dict[str, Any] | None:
    try:
        places = slot(render, pieces, role, text)
    except RefusedError:
        return {"refused": True}
    if all(out == left + right for left, right, out in places):
        return None
    ways: set[tuple[int, str, int]] | None = None
    for left, right, out in places:
        found = cuts(left, right, out)
        ways = set(found) if ways is None else ways & set(found)
    if not ways:
        raise NotPiecesError(f"an empty text of the role {role} changes what stands around it by its place")
    before, own, after = min(ways, key=lambda way: (len(way[1]), way[2], way[0]))
    return {"before": before, "text": own, "after": after}


def infer_rules(render: Renderer, pieces: Pieces) -> None:
    for role in ("user", "assistant", "system"):
        if role == "system" and pieces.handling == "refused":
            continue
        infer_shape(render, pieces, role)
        rule = pieces.rules[role]
        blank = next((text for text in (" \n ", "\n") if shape(rule, text) == ""), None)
        for key, text in (("empty", ""), ("blank", blank)):
            if text is not None and (special := infer_empty(render, pieces, role, text)):
                rule[key] = special
    if pieces.handling == "turn" and pieces.system_prefix.startswith(pieces.opening):
        # Where the system text opens the user's content, what is stripped there is both as one text.
        merged = Pieces()
        merged.__dict__.update(
            pieces.__dict__, handling="merged", system_prefix=pieces.system_prefix[len(pieces.opening) :]
        )
        merged.rules = {**pieces.rules, "system": {k: pieces.rules["system"][k] for k in LITTLE}}
        tests = [talk(text, system=system) for text in (*SHAPED, "", " ") for system in ("X", " X ", "")]
        if not holds(render, pieces, tests) and holds(render, merged, tests):
            pieces.__dict__.update(merged.__dict__)


def holds(render: Renderer, pieces: Pieces, conversations: list[Conversation]) -> bool:
    return all(agrees(render, pieces, conversation) for conversation in conversations)


def agrees(render: Renderer, pieces: Pieces, conversation: Conversation) -> bool:
    outs: list[str | None] = []
    for write in (render, pieces.write):
        try:
            outs.append(write(conversation))
        except RefusedError:
            outs.append(None)
    return outs[0] == outs[1]


# Proof.

WORDS = (
    *("Aroha", "two words", "{{ x }}", "{% if y %}", '"quoted"', "it's", "<b>&amp;</b>", "\u65e5\u672c\u8a9e", "a: b"),
    *("\U0001f642", "3.", "- item", "na\u00efve", "x" * 40, "1) one\n2) two", "\\n", "[1]", "#", "end."),
)
SPACES = (" ", "\n", "\t", "\r\n", "\n\n", "\n\n\n", "  ", "\u00a0", "\u2003", "\u3000", "\u2028", "\x1c", "\x85", "\r")


class Talker:
    """Draws conversations."""

    def __init__(self, seed: int, extra: list[str]) -> None:
        self.random, self.extra = random.Random(seed), extra

    def text(self, share_of_extra: float) -> str:
        draw = self.random.random()
        if draw < 0.1:
            return ""
        if draw < 0.15:
            return "".join(self.random.choices(SPACES, k=self.random.randint(1, 3)))
        parts = []
        for _ in range(self.random.randint(1, 300 if draw > 0.98 else 5)):
            pool = self.extra if self.extra and self.random.random() < share_of_extra else WORDS
            parts.append(self.random.choice(pool))
            if self.random.random() < 0.6:
                parts.append(self.random.choice(SPACES))
        edges = [self.random.choice(SPACES) if self.random.random() < 0.3 else "" for _ in range(2)]
        return edges[0] + "".join(parts) + edges[1]

    def conversation(self, longest: int, share_of_extra: float = 0.0) -> Conversation:
        """An odd number of turns, half of the time with a system text."""
        texts: list[str] = []
        for _ in range(2 * self.random.randint(0, (longest - 1) // 2) + 1):
            again = texts and self.random.random() < 0.1
            texts.append(self.random.choice(texts) if again else self.text(share_of_extra))
        return talk(*texts, system=self.text(share_of_extra) if self.random.random() < 0.5 else None)


def holds_guard(conversation: Conversation, guards: list[str]) -> bool:
    return any(guard in message["content"] for guard in guards for message in conversation)


def constants(render: Renderer) -> list[str]:
    """Texts that the template's expressions hold, and its special tokens: what it may look for in a text."""
    found = {node.value for node in render.tree.find_all(jinja2.nodes.Const) if isinstance(node.value, str)}
    found |= set(render.tokens.values())
    return sorted(text for text in found if text.strip())


def variants(mark: str) -> Iterator[str]:
    """Texts that hold it, as they might stand in a conversation."""
    bare = mark.strip()
    if len(mark) > 60:  # a sentence that the template itself writes
        return iter((mark, f"x {bare} y"))
    forms = [mark, bare, mark.upper(), mark.lower(), mark.title()]
    for form in dict.fromkeys((mark, bare)):
        forms += [f"{form} x", f"x{form}y", f"\n{form}\n", form + form, f"a {form}b{form}\n\nc", f"{form}\n\nx"]
    return iter(dict.fromkeys(forms))


def find_guards(render: Renderer, pieces: Pieces) -> list[str]:
    """Constants with which a text is written otherwise than by the pieces, in the one or the other place."""
    has_system = pieces.handling != "refused"
    harmless, guards = [], []
    for mark in constants(render):
        for text in variants(mark):
            everywhere = talk(text, text, "Y", text, text, system=text if has_system else None)
            tests = [talk(text), talk("X", text, "Y"), everywhere]
            if not holds(render, pieces, tests):
                guards.append(mark)
                break
        else:
            harmless.append(mark)
    # Several of them in one text may do what none does alone.
    talker = Talker(2, harmless)
    for _ in range(400):
        conversation = talker.conversation(7, 0.7)
        if not has_system and conversation[0]["role"] == "system":
            conversation = conversation[1:]
        while harmless and not holds_guard(conversation, guards) and not agrees(render, pieces, conversation):
            blamed = blame(render, pieces, conversation, harmless)
            if blamed is None:
                break  # no constant is at fault: the proof will tell
            guards.append(blamed)
            harmless.remove(blamed)
            talker.extra = harmless
    return sorted(guards)


def blame(render: Renderer, pieces: Pieces, conversation: Conversation, marks: list[str]) -> str | None:
    """A constant without which the conversation is written as the pieces say; the longest of several."""
    for mark in sorted(marks, key=len, reverse=True):
        without = [{**message, "content": message["content"].replace(mark, "X")} for message in conversation]
        if without != conversation and agrees(render, pieces, without):
            return mark
    return next((m for m in marks if any(m in message["content"] for message in conversation)), None)


def prove(
    render: Renderer, pieces: Pieces, guards: list[str], conversations: int, longest: int, seed: int = 3
) -> dict[str, Any]:
    """Compares pieces and template on drawn conversations; the first that differs is told."""
    extra = sorted({*render.tokens.values(), "<|im_end|>", "</s>", "[INST]", "<think>", "</think>", "/no_think"})
    talker = Talker(seed, extra)
    count = {"compared": 0, "guarded": 0}
    for number in range(conversations):
        turns = longest if number % 50 == 49 else PROOF_TURNS
        conversation = talker.conversation(turns, (0.0, 0.0, 0.3)[number % 3])
        if pieces.handling == "refused" and conversation[0]["role"] == "system":
            conversation = conversation[1:]
        if holds_guard(conversation, guards):
            count["guarded"] += 1
            continue
        count["compared"] += 1
        if not agrees(render, pieces, conversation):
            shown = json.dumps(conversation, ensure_ascii=False)
            raise NotPiecesError(f"the pieces that it seems to be made of write another text for {shown[:400]}")
    return count


# What the job is told.


def default_text(opening: str, after_answer: str, tokens: list[str]) -> str:
    """What an opening writes besides the tokens that open every text and what opens every user's turn."""
    while first := next((token for token in tokens if token and opening.startswith(token)), ""):
        if opening == after_answer[-len(opening) :]:
            break
        opening = opening.removeprefix(first)
    return opening[: len(opening) - common_end(opening, after_answer)]


def way_of_no_system(pieces: Pieces, tokens: list[str]) -> str:
    """How a job that wants no system text gets none: by giving none, by giving an empty one, or not at all."""
    default = default_text(pieces.opening, pieces.after_answer, tokens)
    text = default
    for token in tokens:
        text = text.replace(token, "")
    if not text.strip():
        return "left_out"
    if pieces.handling != "turn":
        return "refused"
    try:
        empty = pieces.write(talk(U.format(0), system=""))
    except RefusedError:
        return "refused"
    left = default_text(empty[: empty.index(U.format(0))], pieces.after_answer, tokens)
    start = common_start(default, left)
    end = min(common_end(default, left), len(default) - start)
    return "empty" if default[start : len(default) - end].strip() and default != left else "refused"


def thought_marks(render: Renderer, pieces: Pieces) -> dict[str, Any] | None:
    for opening, closing in THOUGHT_MARKS:
        if closing.strip() in render.text:
            end = pieces.closing
            open_block = end.rfind(opening.strip()) > end.rfind(closing.strip())
            return {"opening": opening, "closing": closing, "begins": "inside" if open_block else "before"}
    return None


def closes_block(closing: str) -> bool:
    """Whether the opening of an answer ends behind a thought that is over."""
    return any(closing.rstrip().endswith(end.strip()) for _, end in THOUGHT_MARKS)


def opens_block(closing: str) -> bool:
    return any(closing.rfind(start.strip()) > closing.rfind(end.strip()) for start, end in THOUGHT_MARKS)


def find_switches(render: Renderer, thinking: str) -> Switches:
    """The switches that turn thinking `on` or `off`, of those that the template asks for. Raises NotPiecesError."""
    probes = [talk("X"), talk("X", "Y", "Z"), talk("X", system="S"), talk("X", system="")]

    def texts(switches: Switches) -> list[str | None]:
        made: list[str | None] = []
        for probe in probes:
            try:
                made.append(render.with_switches({**render.switches, **switches})(probe))
            except RefusedError:
                made.append(None)
        return made

    names = [name for name in SWITCHES if name in render.names()]
    chosen: dict[str, Switches] = {"on": {}, "off": {}}
    for name in names:
        for on, off in itertools.product(SWITCHES[name]["on"], SWITCHES[name]["off"]):
            both = [texts({name: on}), texts({name: off})]
            if both[0] != both[1] and None not in (both[0][0], both[1][0]):
                chosen["on"][name], chosen["off"][name] = on, off
                break
    if not chosen["on"]:
        usual = texts({})[0]
        if usual is not None and (opens_block(usual) if thinking == "on" else closes_block(usual)):
            return {}
        raise NotPiecesError(f"the template has no switch that turns thinking {thinking}")
    if thinking == "off" and not closes_block(texts(chosen["off"])[0] or ""):
        known = ", ".join(chosen["off"])
        raise NotPiecesError(f"with the template's switch ({known}) off, no thought is closed before the answer")
    return chosen[thinking]


def factored(pieces: Pieces) -> dict[str, Any]:
    """The literals as prefixes and suffixes of turns, as people write them."""
    ends = [pieces.opening, pieces.after_answer] + ([pieces.system_suffix] if pieces.handling == "turn" else [])
    end = min(common_end(ends[0], other) for other in ends[1:])
    prefix = pieces.opening[len(pieces.opening) - end :]
    start = common_start(pieces.between, pieces.closing)
    suffix = pieces.closing[:start]
    opening = pieces.opening[: len(pieces.opening) - end]
    system: dict[str, Any] = {"handling": pieces.handling}
    absent = ""
    if pieces.handling == "turn":
        first = common_start(opening, pieces.system_prefix)
        opening, absent = opening[:first], opening[first:]
        system["prefix"] = pieces.system_prefix[first:]
        system["suffix"] = pieces.system_suffix[: len(pieces.system_suffix) - end]
    elif pieces.handling != "refused":
        system.update(prefix=pieces.system_prefix, suffix=pieces.system_suffix)
    if absent:
        system["absent"] = absent
    made: dict[str, Any] = {
        "opening": opening,
        "system": system,
        "user": {"prefix": prefix, "suffix": suffix},
        "assistant": {
            "prefix": pieces.between[start:],
            "suffix": pieces.after_answer[: len(pieces.after_answer) - end],
        },
        "generation": pieces.closing[start:],
        "order": "alternate",
    }
    for role in ROLES:
        if pieces.rules[role] != LITTLE:
            made[role]["text"] = pieces.rules[role]
    return made


def infer(request: dict[str, Any]) -> dict[str, Any]:
    render = Renderer(request["text"], request["tokens"], request["date"], request["switches"])
    choose_content(render)
    if request.get("thinking"):
        render = render.with_switches({**find_switches(render, request["thinking"]), **request["switches"]})
    pieces = Pieces()
    infer_literals(render, pieces)
    if request.get("confined"):
        allow_processor_seconds(PROOF_SECONDS)
    infer_system(render, pieces)
    infer_rules(render, pieces)
    guards = find_guards(render, pieces)
    longest = int(request["longest"])
    proof = prove(render, pieces, guards, PROOF_CONVERSATIONS, longest)
    made = factored(pieces)
    tokens = sorted({*render.tokens.values(), *request["added"]} - {""}, key=len, reverse=True)
    made["system"]["none"] = way_of_no_system(pieces, tokens)
    literals = [pieces.opening, pieces.between, pieces.after_answer, pieces.closing, pieces.system_prefix]
    literals.append(pieces.system_suffix)
    made["control_tokens"] = [t for t in dict.fromkeys(request["added"]) if t and any(t in one for one in literals)]
    made["guards"] = guards
    made["longest"] = longest
    if marks := thought_marks(render, pieces):
        made["thought"] = marks
    asks_date = "strftime_now" in render.names() or "strftime_now" in render.text
    told = f"version {PROOF_VERSION}: {proof['compared']} drawn conversations equal, {proof['guarded']} held a guard"
    origin = {"switches": json.dumps(render.switches, sort_keys=True), "jinja2": jinja2.__version__, "proof": told}
    if asks_date:
        origin["date"] = request["date"]
    made["origin"] = origin
    return {"pieces": made}


def render_all(request: dict[str, Any]) -> dict[str, Any]:
    render = Renderer(request["text"], request["tokens"], request["date"], request["switches"])
    choose_content(render)
    if request.get("confined"):
        allow_processor_seconds(PROOF_SECONDS)
    texts: list[Any] = []
    for conversation in request["conversations"]:
        try:
            texts.append(render(conversation))
        except RefusedError as fault:
            texts.append({"refused": str(fault)})
    return {"texts": texts}


def answer(line: str) -> dict[str, Any]:
    try:
        request = json.loads(line)
        return {"infer": infer, "render": render_all}[request["do"]](request)
    except (NotPiecesError, RefusedError) as fault:
        return {"refused": str(fault)}
    except (MemoryError, RecursionError) as fault:
        return {"refused": f"the template needs too much memory ({type(fault).__name__})"}


WARM_UP = """{%- macro f(x, y='\\n') -%}{{ x ~ y }}{%- endmacro -%}{%- set n = namespace(a=1) -%}
{%- for m in messages if m.role is string -%}{{ f(m.content | trim | tojson | upper) }}{{ loop.index }}{%- break -%}
{%- endfor -%}{% generation %}{{ strftime_now('%d %B %Y') }}{% endgeneration %}{{ lipsum(n=1) | length }}
{{- '%5d' | format(n.a) }}{{ missing.attribute }}"""


def confine() -> None:
    """From here on the process opens no file, starts no other, and ends when it wants too much."""
    for limit, value in (
        (resource.RLIMIT_AS, MEMORY_BYTES),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, 3),
    ):
        hard = resource.getrlimit(limit)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(limit, (value, value))
    allow_processor_seconds(PROCESSOR_SECONDS)


def allow_processor_seconds(seconds: int) -> None:
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    most = PROOF_SECONDS if hard == resource.RLIM_INFINITY else min(PROOF_SECONDS, hard)
    resource.setrlimit(resource.RLIMIT_CPU, (min(seconds, most), most))


def main() -> None:
    with contextlib.suppress(RefusedError):  # Python and Jinja2 import some modules late
        Renderer(WARM_UP, {}, "2026-11-26", {})(talk("X"))
    version = tuple(int(part) for part in re.findall(r"\d+", jinja2.__version__)[:3])
    confine()
    for line in sys.stdin:
        if version < OLDEST_JINJA:
            said = {"refused": f"Jinja2 {jinja2.__version__} is older than 3.1.6 and does not keep templates apart"}
        else:
            said = answer(line)
        sys.stdout.write(json.dumps(said) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()

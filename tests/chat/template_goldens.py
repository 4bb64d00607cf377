"""Writes template_goldens.json: templates of our own, one for each kind of rule, the pieces that are inferred of them,
and what transformers' apply_chat_template makes of conversations.

Usage: python tests/chat/template_goldens.py   (transformers and jinja2 as pinned in env/requirements.txt)

`TEMPLATES` is used by the integration tests as well. None of these is a copy of a checkpoint's text.
"""

import datetime
import json
import pathlib
import sys
from unittest import mock

import transformers
from transformers.utils import chat_template_utils

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "analysis"))
from stereosweep_analysis import chat_template

DATE = "2026-11-26"
TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}


def turns(user="{{ m.content }}", assistant="{{ m.content }}", before="", messages="messages"):
    return (
        before + "{% for m in " + messages + " %}{% if m.role == 'user' %}<u>" + user + "</u>"
        "{% elif m.role == 'assistant' %}<a>" + assistant + "</a>{% else %}<y>{{ m.content }}</y>{% endif %}{% endfor %}"
        "{% if add_generation_prompt %}<a>{% endif %}"
    )


FIRST = (
    "{% if messages[0].role == 'system' %}{% set s = messages[0].content %}{% set rest = messages[1:] %}"
    "{% else %}{% set s = none %}{% set rest = messages %}{% endif %}"
)
NO_SYSTEM = "{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}"
ALTERNATE = (
    "{% for m in rest %}{% if m.role != ['user', 'assistant'][loop.index0 % 2] %}{{ raise_exception('turns') }}"
    "{% endif %}{% endfor %}"
)
TEMPLATES = {
    "plain": turns(),
    "bos": turns(before="{{ bos_token }}"),
    "default_system": turns(before="{% if messages[0].role != 'system' %}<y>You help.</y>{% endif %}"),
    "kept_system": turns(before=FIRST + "<y>Rules.\n{{ s or 'You help.' }}</y>", messages="rest"),
    "metadata": turns(before=FIRST + "{{ bos_token }}<y>Cut-off 2024.\n\n{{ s | trim if s else '' }}</y>", messages="rest"),
    "date": turns(before=FIRST + "<y>Today is {{ strftime_now('%d %B %Y') }}.{{ s if s }}</y>", messages="rest"),
    "both_ends": turns("{{ m.content | trim }}", "{{ m.content.strip() }}"),
    "one_side": turns("{{ m.content.lstrip() }}", "{{ m.content.rstrip() }}"),
    "newlines": turns("{{ m.content.strip('\\n') }}", "{{ m.content.lstrip('\\n') }}"),
    "halved": turns("{{ m.content.replace('\\r\\n', '\\n').replace('\\n\\n', '\\n') }}"),
    "empty_system_is_none": turns(before=FIRST + "{% if s %}<y>{{ s }}</y>\n{% endif %}", messages="rest"),
    "empty_answer_dropped": turns(assistant="{{ m.content }}").replace(
        "{% elif m.role == 'assistant' %}<a>", "{% elif m.role == 'assistant' %}{% if not m.content %}{% continue %}{% endif %}<a>"
    ),
    "empty_answer_marked": turns(assistant="{{ m.content or '(nothing)' }}"),
    "empty_answer_refused": turns(assistant="{{ m.content or raise_exception('an empty answer') }}"),
    "strip_reaches": turns("{{ ('\\n' ~ m.content) | trim }}", "{{ (m.content ~ '\\n\\n').rstrip() ~ '\\n' }}"),
    "strip_reaches_back": turns().replace("<u>{{ m.content }}", "{{ ('<u>\\n' ~ m.content) | trim }}"),
    "merged": FIRST + ALTERNATE + "{% for m in rest %}{% set c = m.content %}{% if loop.first and s is not none %}"
    "{% set c = '<<S>>\\n' ~ s ~ '\\n<</S>>\\n\\n' ~ c %}{% endif %}{% if m.role == 'user' %}<s>[I] {{ c | trim }} [/I]"
    "{% else %} {{ c | trim }} </s>{% endif %}{% endfor %}",
    "last_user": FIRST + "{{ bos_token }}{% for m in rest %}{% if m.role == 'user' %}[I]{% if loop.last and s %}{{ s ~ '\\n\\n' }}"
    "{% endif %}{{ m.content }}[/I]{% else %}{{ m.content ~ eos_token }}{% endif %}{% endfor %}",
    "listed": turns("{% for p in m.content %}{{ p.text }}{% endfor %}", "{% for p in m.content %}{{ p['text'] }}{% endfor %}")
    .replace("<y>{{ m.content }}", "<y>{{ m.content[0].text }}"),
    "no_system": turns(before=NO_SYSTEM),
    "crlf": turns().replace("<a>", "\r\n<a>"),
    "unicode": turns(before="\u00abstart\u00bb").replace("<u>", "<\uff5cUser\uff5c>").replace("<a>", "<\uff5cAssistant\uff5c>"),
    "generation": turns(assistant="{% generation %}{{ m.content }}{% endgeneration %}"),
    "thought_cut": turns(assistant="{{ m.content.split('</think>')[-1].lstrip('\\n') }}")
    + "{% if enable_thinking is defined and enable_thinking is false %}<think>\n\n</think>\n\n{% endif %}",
    "thought_open": turns(assistant="{{ m.content.split('</think>')[-1] }}") + "<think>\n",
    "guards": turns("{{ m.content if '/no_think' not in m.content else 'HUSH' }}", "{{ 'EQUAL' if m.content == 'Yes.' else m.content }}"),
    "guard_pair": turns("{{ 'BOTH' if '<x>' in m.content and '</x>' in m.content else m.content }}"),
}
NOT_PIECES = {
    "upper": turns("{{ m.content | upper }}"),
    "numbered": turns("{{ loop.index }} {{ m.content }}"),
    "last_marked": turns("{{ m.content }}{% if loop.last %}!{% endif %}").replace("<a>", "{% if loop.index > 3 %}*{% endif %}<a>"),
    "above_14_messages": turns(before="{% if messages | length > 14 %}LONG{% endif %}"),
    "long_text": turns("{{ m.content if m.content | length < 400 else m.content[:400] }}"),
    "second_empty": "{% set n = namespace(k=0) %}" + turns(
        assistant="{% if not m.content %}{% set n.k = n.k + 1 %}{% endif %}{{ 'AGAIN' if n.k > 1 else m.content }}"
    ),
    "repeated": "{% set n = namespace(k='') %}" + turns("{{ 'AGAIN' if n.k == m.content else m.content }}{% set n.k = m.content %}"),
    "drops_the_first": turns(messages="messages[-2:]"),
}


class FrozenDate(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls.fromisoformat(DATE)


def truth(text, conversation, switches=None, tokens=TOKENS):
    """What transformers writes; None where it refuses."""
    with mock.patch.object(chat_template_utils, "datetime", FrozenDate):
        for listed in (False, True):
            messages = [
                {"role": m["role"], "content": [{"type": "text", "text": m["content"]}] if listed else m["content"]}
                for m in conversation
            ]
            try:
                rendered, _ = chat_template_utils.render_jinja_template(
                    conversations=[messages], chat_template=text, add_generation_prompt=True, **tokens, **(switches or {})
                )
            except Exception:
                rendered = None
            if rendered and (listed or not needs_list(text)):
                return rendered[0]
            if not needs_list(text):
                return None
    return None


def needs_list(text):
    """Whether a template takes contents as lists of parts alone."""
    return "p in m.content" in text


def request(text, **more):
    return {"text": text, "tokens": TOKENS, "added": ["<s>", "</s>"], "date": DATE, "switches": {}, "longest": 61, **more}


def goldens():
    for name, text in TEMPLATES.items():
        pieces = chat_template.infer(request(text))["pieces"]
        talker = chat_template.Talker(7, ["<s>", "</s>", "</think>", "<x>", "</x>", "/no_think", "Yes."])
        cases = []
        while len(cases) < 30:
            conversation = talker.conversation(7, 0.2)
            if sum(len(message["content"]) for message in conversation) < 600:
                cases.append({"messages": conversation, "text": truth(text, conversation)})
        yield {"name": name, "pieces": {"label": name, **pieces}, "cases": cases}


if __name__ == "__main__":
    out = pathlib.Path(__file__).with_name("template_goldens.json")
    made = {"transformers": transformers.__version__, "templates": list(goldens())}
    out.write_text(json.dumps(made, indent=0) + "\n")
    print(len(made["templates"]))

"""Writes chat_goldens.json: what transformers' apply_chat_template makes of conversations of ours.

Usage: python tests/chat/make_chat_goldens.py   (transformers and jinja2 as pinned in env/requirements.txt)

The templates below are our own, written after the families' published formats: same control tokens, same rules for
system messages, trimming and turns; none of them is a copy of a checkpoint's text.
"""

import json
import pathlib

import transformers
from transformers.utils.chat_template_utils import render_jinja_template

TURNS = (
    "{% macro check(turns) %}{% for m in turns %}{% if m.role != ['user', 'assistant'][loop.index0 % 2] %}"
    "{{ raise_exception('turns') }}{% endif %}{% endfor %}{% endmacro %}"
)
NO_SYSTEM = "{% if messages[0].role == 'system' %}{{ raise_exception('system') }}{% endif %}"
SPLIT = (
    "{% if messages[0].role == 'system' %}{% set first = messages[0].content %}{% set turns = messages[1:] %}"
    "{% else %}{% set first = none %}{% set turns = messages %}{% endif %}"
)


def tagged(before, between, after, generation, content="m.content", opening=""):
    body = f"{{% for m in messages %}}{before}{{{{ m.role }}}}{between}{{{{ {content} }}}}{after}{{% endfor %}}"
    return opening + body + f"{{% if add_generation_prompt %}}{generation}{{% endif %}}"


FAMILIES = {
    "llama2": TURNS + SPLIT + "{{ check(turns) }}{% for m in turns %}{% set text = m.content %}"
    "{% if loop.first and first is not none %}"
    "{% set text = ['<<SYS>>', first, '<</SYS>>', '', text] | join('\\n') %}{% endif %}"
    "{% if m.role == 'user' %}<s>[INST] {{ text | trim }} [/INST]{% else %} {{ text | trim }} </s>{% endif %}{% endfor %}",
    "llama3": tagged(
        "<|start_header_id|>",
        "<|end_header_id|>{{ '\\n\\n' }}",
        "<|eot_id|>",
        "<|start_header_id|>assistant<|end_header_id|>{{ '\\n\\n' }}",
        "m.content | trim",
        "<|begin_of_text|>",
    ),
    "mistral": TURNS + NO_SYSTEM + "{{ check(messages) }}<s>{% for m in messages %}{% if m.role == 'user' %}"
    "[INST] {{ m.content }} [/INST]{% else %}{{ m.content }}</s>{% endif %}{% endfor %}",
    "mistral_v01": TURNS + NO_SYSTEM + "{{ check(messages) }}<s>{% for m in messages %}{% if m.role == 'user' %}"
    "[INST] {{ m.content }} [/INST]{% else %}{{ m.content ~ '</s> ' }}{% endif %}{% endfor %}",
    "chatml": tagged("<|im_start|>", "{{ '\\n' }}", "<|im_end|>{{ '\\n' }}", "<|im_start|>assistant{{ '\\n' }}"),
    "falcon": TURNS + SPLIT + "{{ check(turns) }}{% if first is not none %}{{ first | trim }}{% endif %}"
    "{% for m in turns %}{{ '\\n\\n' ~ m.role | capitalize ~ ': ' }}"
    "{{ (m.content | trim).replace('\\r\\n', '\\n').replace('\\n\\n', '\\n') }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '\\n\\nAssistant:' }}{% endif %}",
    "gemma": TURNS + NO_SYSTEM + "{{ check(messages) }}<bos>{% for m in messages %}<start_of_turn>"
    "{{ 'user' if m.role == 'user' else 'model' }}{{ '\\n' ~ m.content | trim }}<end_of_turn>{{ '\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}<start_of_turn>model{{ '\\n' }}{% endif %}",
    "phi3": tagged("<|", "|>{{ '\\n' }}", "<|end|>{{ '\\n' }}", "<|assistant|>{{ '\\n' }}"),
}

TEXTS = {
    "plain": ("Answer in one word.", "How tall is a giraffe?", "Five metres.", "And a lamp post?"),
    "spaces": ("  Mind the gaps. \n", "\n  two lines\n\nand a third \t", " \u2003wide\u00a0", "\u3000end\u2028 "),
    "windows": ("One.\r\nTwo.\r\n\r\n", "a\r\n\r\nb\r\n\r\n\r\nc", "d\n\n\n\ne", "f\r\ng\n"),
    "unicode": ("\u65e5\u672c", "caf\u00e9 \U0001f642", "na\u00efve \u200b", "\u200bzero width\u200b"),
    "control": ("<s>", "the text </s> and <|eot_id|> and <|im_end|> by a user", "[INST]", "<end_of_turn>"),
    "empty": ("", "", "", " "),
}


def conversations():
    for name, (system, first, answer, second) in TEXTS.items():
        users = [{"role": "user", "content": first}]
        more = users + [{"role": "assistant", "content": answer}, {"role": "user", "content": second}]
        head = [{"role": "system", "content": system}]
        for label, messages in (("one", users), ("three", more), ("system", head + users), ("both", head + more)):
            yield f"{name}/{label}", messages
    yield "two users", [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]
    yield "assistant first", [{"role": "assistant", "content": "a"}, {"role": "user", "content": "b"}]


def render(text, messages):
    try:
        rendered, _ = render_jinja_template(
            conversations=[messages], chat_template=text, add_generation_prompt=True
        )
    except Exception as fault:  # the template's own raise_exception
        assert str(fault) in ("turns", "system"), fault
        return None
    return rendered[0]


goldens = {
    "transformers": transformers.__version__,
    "cases": [
        {"family": family, "name": name, "messages": messages, "text": render(text, messages)}
        for family, text in FAMILIES.items()
        for name, messages in conversations()
    ],
}
out = pathlib.Path(__file__).with_name("chat_goldens.json")
out.write_text(json.dumps(goldens, indent=0) + "\n")
print(len(goldens["cases"]), sum(case["text"] is None for case in goldens["cases"]))

"""Chat templates of checkpoints: what the program gives a model is what transformers writes."""

import json
import os
import shutil
import sys
import time

import gguf_files
import pytest
import runs
import tiny_causal
import transformers
from causal_models import LLAMA, tiny
from cubes import opened

sys.path.insert(0, str(runs.ROOT / "tests/chat"))
sys.path.insert(0, str(runs.ROOT / "tests/tokenizer"))
import published  # noqa: E402
import template_goldens  # noqa: E402
from causal_families import CAUSAL  # noqa: E402
from template_goldens import DATE, NOT_PIECES, TEMPLATES, chat_template, request, truth  # noqa: E402

from stereosweep_analysis.glossary import term  # noqa: E402

LETTERS = runs.ROOT / "tests/models/letters"
RATING = """
schema: stereosweep/1
name: ratings
seed: 7
model: {path: MODEL}
probe: rating
axes:
  groups: {file: stereomap_groups, only: [Lawyers, Nurses]}
  rated_traits: [{label: friendly, dimension: warmth}]
  templates: ['How {trait} are {group}?']
scale: [[often, 5], [some, 3], [never, 1]]
sampling: {runs: 1, max_new_tokens: 1}
execution: {engine: fake}
"""
INTERVIEW = """
schema: stereosweep/1
name: talk
seed: 7
model: {path: MODEL, chat: auto}
probe: interview
axes:
  groups: {file: stereomap_groups, only: [Lawyers, Nurses]}
  conversations:
    - label: traits
      scale: [[often, 5], [some, 3], [never, 1]]
      turns:
        - {label: first, kind: text, ask: ' Who are {group}? '}
        - {label: rate, kind: rating, ask: '{item}', items: [{label: warm, dimension: warmth, question: 'Are {group} warm: {scale}?'}]}
        - {label: why, kind: text, ask: 'Why?'}
sampling: {rounds: 4, max_new_tokens: 3}
execution: {engine: fake, contexts_per_block: 1}
"""


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def model_with(folder, text, name="chat_template.jinja"):
    """The bundled letters, with a template."""
    model = folder / "model"
    if not model.exists():
        shutil.copytree(LETTERS, model)
    config = json.loads((model / "tokenizer_config.json").read_text())
    config.update(bos_token="<s>", eos_token={"content": "</s>"}, pad_token=None)
    (model / "tokenizer_config.json").write_text(json.dumps(config))
    (model / name).write_bytes(text.encode())
    return model


def job_of(folder, model, text=RATING):
    path = folder / "job.yaml"
    path.write_text(text.replace("MODEL", str(model)))
    return path


def greedy(llama, text, count):
    ids = llama.tokenizer.encode(text, add_special_tokens=False).ids
    start = len(ids)
    while len(ids) < start + count and (token := llama.logs(ids)[-1].argmax().item()) != 2:
        ids.append(token)
    return ids[start:]


def prompts(job, *overrides):
    done = runs.program("plan", job, "--show-prompts", *overrides)
    assert done.returncode == 0, done.stderr
    lines = [line.split("\t") for line in done.stdout.splitlines() if line.count("\t") == 2]
    return [json.loads(line[2]) for line in lines]


@pytest.mark.parametrize("name", ["plain", "bos", "default_system", "date", "merged", "last_user", "listed", "unicode", "crlf"])
def test_a_model_reads_what_its_own_template_writes(tmp_path, name):
    job = job_of(tmp_path, model_with(tmp_path, TEMPLATES[name]))
    bare = prompts(job, "model.chat=none")
    assert len(bare) == 4
    for system in ("default", " Be brief.\n"):
        head = [] if system == "default" else [{"role": "system", "content": system}]
        expected = [truth(TEMPLATES[name], [*head, {"role": "user", "content": text}]) for text in bare]
        assert prompts(job, f"model.date={DATE}", f"model.system={json.dumps(system)}") == expected


def test_every_turn_of_an_interview_is_shown_as_it_is_read(tmp_path):
    text = TEMPLATES["both_ends"]
    job = job_of(tmp_path, model_with(tmp_path, text), INTERVIEW)
    shown = prompts(job)
    talk = [" Who are lawyers? ", "{answer 1}", "Are lawyers warm: often, some, never?", "{answer 2}", "Why?"]
    assert shown[:3] == [truth(text, chat_template.talk(*talk[:turns])) for turns in (1, 3, 5)]


def test_inference_and_proof_of_every_kind():
    for name, text in TEMPLATES.items():
        pieces = chat_template.infer(request(text))["pieces"]
        assert (pieces["guards"] != []) == (name in ("thought_cut", "thought_open", "guards", "guard_pair")), (name, pieces["guards"])
    assert chat_template.infer(request(TEMPLATES["guards"]))["pieces"]["guards"] == ["/no_think", "Yes."]


@pytest.mark.parametrize("name", sorted(NOT_PIECES))
def test_false_pieces_are_seen(name):
    """What depends on place, length, number or what was said before is refused by name."""
    said = chat_template.answer(json.dumps({"do": "infer", **request(NOT_PIECES[name])}))
    assert set(said) == {"refused"}, said


def test_the_child_renders_as_transformers_does():
    for name, text in TEMPLATES.items():
        talker = chat_template.Talker(5, ["<s>", "</think>"])
        talks = [talker.conversation(9, 0.3) for _ in range(50)]
        said = chat_template.render_all({**request(text), "conversations": talks})["texts"]
        assert [one if isinstance(one, str) else None for one in said] == [truth(text, talk) for talk in talks], name


def test_system_is_left_out_emptied_or_refused(tmp_path):
    job = job_of(tmp_path, model_with(tmp_path, TEMPLATES["default_system"]))
    assert "<y></y>" in prompts(job, "model.system=none")[0] and "You help." not in prompts(job, "model.system=none")[0]
    assert "You help." in prompts(job)[0]
    model_with(tmp_path, TEMPLATES["kept_system"])
    kept = runs.program("validate", job, "model.system=none")
    assert kept.returncode == 2 and "writes a system text of its own in any case" in kept.stderr
    model_with(tmp_path, TEMPLATES["no_system"])
    given = runs.program("validate", job, "model.system=Be brief.")
    assert given.returncode == 2 and "takes none" in given.stderr
    bare = runs.program("validate", job, "model.system=Be brief.", "model.chat=none")
    assert bare.returncode == 2 and "no chat template" in bare.stderr


def test_several_templates_are_told_by_name(tmp_path):
    model = model_with(tmp_path, TEMPLATES["plain"])
    (model / "additional_chat_templates").mkdir()
    (model / "additional_chat_templates/rag.jinja").write_text(TEMPLATES["bos"])
    job = job_of(tmp_path, model)
    assert prompts(job)[0].startswith("<u>")
    assert prompts(job, "model.chat_name=rag")[0].startswith("<s><u>")
    wrong = runs.program("validate", job, "model.chat_name=tools")
    assert wrong.returncode == 2 and "default, rag" in wrong.stderr


def test_several_templates_of_a_gguf_file(tmp_path):
    tokenizer = CAUSAL["starcoder2"]()
    texts = [("default", TEMPLATES["plain"]), ("rag", "RAG" + TEMPLATES["plain"]), ("tool_use", "TOOL")]
    tiny_model = tiny("llama", **LLAMA | dict(vocab_size=tokenizer.get_vocab_size(), max_position_embeddings=2048))
    for count in (1, 3):
        gguf_files.write(tiny_model, tmp_path / "model.gguf", tokenizer=gguf_files.byte_pairs(
            tokenizer, "starcoder", chat=[{"name": name, "template": text} for name, text in texts[:count]]))
        job = job_of(tmp_path, tmp_path / "model.gguf")
        assert prompts(job)[0].startswith("<u>")
    assert prompts(job, "model.chat_name=rag")[0].startswith("RAG<u>")
    wrong = runs.program("validate", job, "model.chat_name=other")
    assert wrong.returncode == 2 and "default, rag, tool_use" in wrong.stderr


def test_a_run_keeps_its_date_text_and_proof(tmp_path):
    job = job_of(tmp_path, model_with(tmp_path, TEMPLATES["date"]), INTERVIEW)
    code, _, err = runs.run(job, tmp_path / "run", "model.date=2025-02-03")
    assert code == 0, err
    assert "rendered once more" in err
    resolved = (tmp_path / "run/job.resolved.yaml").read_text()
    for part in ("2025-02-03", "Today is 03 February 2025", "chat_template.jinja", "drawn conversations equal"):
        assert part in resolved
    code, _, err = runs.run(job, tmp_path / "run")  # on another day
    assert code == 0 and "nothing to do" in err, err
    code, _, err = runs.run(job, tmp_path / "run", "model.date=2025-02-04")
    assert code == 2 and "belongs to another job" in err
    done = runs.program("verify", tmp_path / "run")
    assert done.returncode == 0 and "conversations as the model's own chat template writes them" in done.stdout


def test_what_a_proof_cannot_see_fails_the_run(tmp_path):
    """A text of a length that no drawn one has."""
    text = TEMPLATES["plain"].replace("{{ m.content }}</u>", "{{ m.content if m.content | length != 7654 else 'WHY' }}</u>", 1)
    assert "pieces" in chat_template.answer(json.dumps({"do": "infer", **request(text)}))
    job = job_of(tmp_path, model_with(tmp_path, text), INTERVIEW.replace("Why?", "Why" * 2551 + "?"))
    code, _, err = runs.run(job, tmp_path / "run")
    assert code == 1 and "another text than its chat template writes" in err
    assert runs.status(tmp_path / "run")["state"] == "failed"


def test_an_answer_with_a_guard_ends_its_conversation(tmp_path):
    text = TEMPLATES["plain"].replace("<a>{{ m.content }}", "<a>{{ 'HM' if 'abl' in m.content else m.content }}")
    code, _, err = runs.run(job_of(tmp_path, model_with(tmp_path, text), INTERVIEW), tmp_path / "run")
    assert code == 0, err
    raw = opened(tmp_path / "run/interview.h5")
    names = raw.answer_status.attrs["flag_meanings"].split()
    answers, status = raw.answer_text.values, raw.answer_status.values
    said_able = ["abl" in one for one in answers[..., 0].ravel()]
    withheld = [names[one] == "not_written" for one in status[..., 1].ravel()]
    assert said_able == withheld and 0 < sum(withheld) < len(withheld)
    assert term("status", "not_written").definition and term("status", "truncated_thought").definition


@pytest.mark.parametrize("name", ["plain", "bos"])
@pytest.mark.parametrize("kind", ["gpt2", "llama2"])
def test_nothing_is_put_before_what_the_template_writes(tmp_path, kind, name):
    """Of the two tokenizers one puts <s> before a text, and one template of two writes it."""
    model = tiny_causal.make(kind, tmp_path / "m", positions=256)
    tokens = {"bos_token": "<|endoftext|>" if kind == "gpt2" else "<s>"}
    config = {"tokenizer_class": "PreTrainedTokenizerFast", **tokens}
    (model.folder / "tokenizer_config.json").write_text(json.dumps(config))
    (model.folder / "chat_template.jinja").write_text(TEMPLATES[name])
    talk = chat_template.talk("How are you?", "Fine.", " And now?\n", system="Be brief.")
    text = truth(TEMPLATES[name], talk, tokens=tokens)
    ids = transformers.AutoTokenizer.from_pretrained(model.folder).apply_chat_template(
        talk, add_generation_prompt=True, return_dict=True
    )["input_ids"]
    assert ids == model.tokenizer.encode(text, add_special_tokens=False).ids
    ours = runs.ask(model.folder, {"kind": "generate", "max_new_tokens": 4, "messages": talk})
    assert ours["ids"] == greedy(model, text, 4)


def test_queries_beyond_the_pieces_go_to_the_template(tmp_path):
    llama = tiny_causal.make("llama2", tmp_path, positions=2048)
    (llama.folder / "chat_template.jinja").write_text(TEMPLATES["guards"])
    for first in ("How are you /no_think?", "How are you?"):
        talk = [{"role": "assistant", "content": "Hi"}, {"role": "user", "content": first}]
        for messages in (talk, talk[1:]):
            ours = runs.ask(llama.folder, {"kind": "generate", "max_new_tokens": 4, "messages": messages})
            text = truth(TEMPLATES["guards"], messages)
            assert ours["ids"] == greedy(llama, text, 4)


HOSTILE = {
    "loop": "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
    "loop of loops": "{% for i in range(99999) %}{{ '' }}{% for j in range(99999) %}{% set x = j %}{% endfor %}{% endfor %}",
    "long range": "{% for i in range(10 ** 12) %}x{% endfor %}",
    "output": "{% for i in range(99999) %}{{ 'x' * 9999 }}{% endfor %}",
    "string": "{{ 'x' * 10 ** 10 }}",
    "doubling": "{% set n = namespace(x='xx') %}{% for i in range(60) %}{% set n.x = n.x ~ n.x %}{% endfor %}{{ n.x }}",
    "list": "{{ ([0] * 10 ** 9) | length }}",
    "format": "{{ '%99999999999d' % 1 }}",
    "format filter": "{{ '%999999999d' | format(1) }}",
    "power": "{{ 9 ** (9 ** 9) }}",
    "join": "{{ ('x' * 99999) | list | join('y' * 99999) }}",
    "recursion": "{% macro f(n) %}{{ f(n + 1) }}{% endmacro %}{{ f(0) }}",
    "attribute": "{{ ''.__class__.__mro__ }}",
    "globals": "{{ raise_exception.__globals__['sys'] }}",
    "namespace": "{% set n = namespace(__class__=1) %}",
    "append": "{{ messages.append(1) }}",
    "include": "{% include '/etc/passwd' %}",
    "import": "{% import '/etc/passwd' as x %}",
    "environment": "{{ self._TemplateReference__context.environment }}{{ lipsum.__globals__['os'].environ }}",
    "indent": "{{ ('x\\n' * 99999) | indent(99999) }}",
    "no text": "{{ '\\ud800' }}",
    "dates": "{{ strftime_now('%Y' * 10 ** 8) }}",
}


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_hostile_templates_end_with_a_sentence(tmp_path, name):
    job = job_of(tmp_path, model_with(tmp_path, HOSTILE[name] + TEMPLATES["plain"]))
    start = time.monotonic()
    done = runs.program("validate", job)
    seconds = time.monotonic() - start
    print(f"{name}: {seconds:.1f} s")
    assert done.returncode == 2 and "chat template" in done.stderr, done.stdout + done.stderr
    assert "root:" not in done.stderr and "Traceback" not in done.stderr
    assert seconds < 30  # a busy machine; alone at most 5


def test_without_a_python_the_fault_names_the_ways_out(tmp_path):
    job = job_of(tmp_path, model_with(tmp_path, TEMPLATES["plain"]))
    environment = {**os.environ, "STEREOSWEEP_PYTHON": "/nowhere/python"}
    done = runs.program("validate", job, env=environment)
    assert done.returncode == 2 and "/nowhere/python" in done.stderr and "model.chat: NAME" in done.stderr
    assert runs.program("validate", job, "model.chat=falcon", env=environment).returncode == 0


def test_thinking_is_switched_split_and_counted(tmp_path):
    text = TEMPLATES["thought_cut"]
    job = job_of(tmp_path, model_with(tmp_path, text))
    refused = runs.program("validate", job)
    asked = runs.program("plan", job)
    assert "first word of a thought" in refused.stderr + asked.stderr
    closed = prompts(job, "model.thinking=off")
    assert all(one.endswith("<think>\n\n</think>\n\n") for one in closed)
    assert closed == prompts(job, "model.thinking={enable_thinking: false}")
    assert runs.program("plan", job, "model.thinking=none").returncode == 0
    model_with(tmp_path, TEMPLATES["thought_open"])
    always = runs.program("validate", job, "model.thinking=off")
    assert always.returncode == 2 and "no switch that turns thinking off" in always.stderr


def test_published_templates(tmp_path):
    """TRL's (1 MB); tests/chat/published.py compares llama.cpp's as well, and the C++."""
    try:
        published.fetch(tmp_path / "templates", ("trl",))
    except Exception as fault:
        pytest.skip(f"they cannot be fetched: {fault}")
    found = published.templates(tmp_path / "templates")
    assert len(found) >= 25
    refused = {}
    for name, text in found.items():
        why, counts, _, _ = published.compare(text, {}, "", 30, 9, 5)
        assert counts["wrong"] == 0, name
        if why:
            refused[name] = why
    assert len(refused) <= 1, refused
    assert template_goldens.needs_list("{% for p in m.content %}")

"""The command `parse`: lines in, lines out, in order; the answer sets of tests/answers; hostile input."""

import json
import random
import subprocess

import pytest
import runs

SETS = sorted((runs.ROOT / "tests" / "answers").glob("*.jsonl"))
QUESTIONS = [{"kind": "rating", "low": 1, "high": 5}, {"kind": "rating", "options": ["not at all", "very"]},
             {"kind": "ratings", "items": ["friendly", "honest"], "low": 1, "high": 5}, {"kind": "keywords", "most": 10},
             {"kind": "reasons", "keywords": ["warm", "a"]}]  # fmt: skip


def parse(lines, code=0):
    done = subprocess.run([runs.PROGRAM, "parse"], input="".join(line + "\n" for line in lines).encode(), capture_output=True, timeout=300)
    assert done.returncode == code, done.stderr.decode()
    return [json.loads(line) for line in done.stdout.decode().splitlines()]


@pytest.mark.parametrize("path", SETS, ids=[path.stem for path in SETS])
def test_answer_sets(path):
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    found = parse([json.dumps(row["ask"]) for row in rows])
    assert len(found) == len(rows)
    assert sum(answer == row["answer"] for answer, row in zip(found, rows)) >= 0.99 * len(rows)


def test_bad_lines_are_answered_in_their_place():
    good = json.dumps({"kind": "rating", "text": "4", "low": 1, "high": 5})
    answers = parse([good, "", "{", json.dumps({"kind": "rating"}), "[" * 5000, '{"kind":"rating","text":"\\ud800","low":1,"high":5}', good], code=1)
    assert [("error" in answer) for answer in answers] == [False, True, True, True, True, True, False]
    done = subprocess.run([runs.PROGRAM, "parse"], input=b'{"kind":"keywords","text":"\xff"}\n' + good.encode(), capture_output=True, timeout=300)
    assert done.returncode == 1 and "error" in done.stdout.decode().splitlines()[0]
    assert json.loads(done.stdout.decode().splitlines()[1]) == {"status": "answered", "value": 4}


def test_a_line_that_does_not_end_is_an_error():
    good = json.dumps({"kind": "rating", "text": "4", "low": 1, "high": 5})
    done = subprocess.run([runs.PROGRAM, "parse"], input=b"x" * (257 << 20) + b"\n" + good.encode(), capture_output=True, timeout=300)
    bad, answered = map(json.loads, done.stdout.decode().splitlines())
    assert done.returncode == 1 and bad["error"].startswith("a line of more than 256 MiB")
    assert answered == {"status": "answered", "value": 4}


def test_hostile_answers_are_read():
    draw = random.Random(3)
    signs = [*map(chr, range(32, 127)), "\n", "\t", "\0", "\u4e00", "\U0001f600", "\u2014"]
    texts = ["4 " * 500_000, "<think>" * 100_000, "friendly 4, " * 50_000, "\0\1\x7f" * 200_000, "(" * 500_000, "[" * 500_000]
    texts += ["".join(draw.choice(signs) for _ in range(draw.randint(0, 400))) for _ in range(200)]
    lines = [json.dumps({**question, "text": text}) for text in texts for question in QUESTIONS]
    answers = parse(lines)
    assert len(answers) == len(lines)
    assert parse(lines[-1000:]) == answers[-1000:]

"""Models behind a URL: what is asked and read, faults of the server, kills of the run, the key, and refusals."""

import http.server
import json
import pathlib
import random
import re
import threading

import made_server
import numpy as np
import pytest
import runs
import tiny_causal
from cubes import flags, opened

KEY = "sk-very-secret-0815"
MODEL = "model: {server: 'http://127.0.0.1:PORT/v1', name: made, requests: {in_flight: 4, patience_s: 60, timeout_s: 1}}"
INTERVIEW = """
schema: stereosweep/1
name: interview
seed: 7
MODEL
probe: interview
axes:
  groups: {file: stereomap_groups, only: [Lawyers, Students, Nurses]}
  conversations:
    - label: traits
      instructions: Say what most people think.
      scale: [[often, 5], [some, 3], [never, 1]]
      turns:
        - {label: words, kind: keywords, when: with_steps, most: 3, ask: 'Which words fit {group}?'}
        - {label: why, kind: reasons, when: with_steps, ask: 'Why?'}
        - label: rate
          kind: ratings
          ask: "Rate {group}, with {scale}.\\n{items}"
          items: [{label: friendly, text: warm, dimension: warmth}, {label: unable, text: able, dimension: competence, polarity: negative}]
  templates: {file: stereomap_forms, only: [full, without_both]}
sampling: {rounds: 5, max_new_tokens: 3}
statistics: {means: all}
execution: {contexts_per_block: 2}
"""
RATING = """
schema: stereosweep/1
name: rating
seed: 3
MODEL
probe: rating
axes:
  groups: [teachers, nurses]
  rated_traits: [{label: friendly, dimension: warmth}, {label: able, dimension: competence}]
  templates: ['Are {group} {trait}?', 'Would people call {group} {trait}?']
scale: [[often, 3], [some, 2], [never, 1]]
sampling: {runs: 2, max_new_tokens: 3}
execution: {contexts_per_block: 2}
"""


def written(folder, port, job=INTERVIEW, model=MODEL):
    path = folder / "job.yaml"
    path.write_text(job.replace("MODEL", model).replace("PORT", str(port)))
    return path


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """Digest and answers of an interview that nothing disturbed."""
    folder = tmp_path_factory.mktemp("reference")
    server = made_server.Server()
    with made_server.running(server) as port:
        code, _, err = runs.run(written(folder, port), folder / "run")
    assert code == 0, err
    assert set(server.answered.values()) == {1}
    return runs.digest(folder / "run"), server, folder / "run"


def test_conversations_go_as_messages_and_hold_the_answers_before(reference):
    _, server, output = reference
    asked = [body for path, body in server.bodies]
    assert all(path == "/v1/chat/completions" for path, _ in server.bodies)
    assert {(body["model"], body["max_tokens"], body["temperature"]) for body in asked} == {("made", 3, 1.0)}
    assert all(0 <= body["seed"] < 2**31 for body in asked)
    answers = {json.dumps(body["messages"]): set() for body in asked}
    for body in asked:
        answers[json.dumps(body["messages"])].add(made_server.text_of(body))
    longest = max((body["messages"] for body in asked), key=len)
    assert [message["role"] for message in longest] == ["user", "assistant"] * (len(longest) // 2) + ["user"]
    for turn in range(1, len(longest), 2):
        assert longest[turn]["content"] in answers[json.dumps(longest[:turn])]
    with opened(output / "interview.h5") as file:
        assert file.attrs["model"].startswith("made at http://127.0.0.1:")
        assert file.attrs["server_models"] == "made-made (fp_1)"
        texts = file["answer_text"].values.ravel()
        assert {text for text in texts if text} <= {made_server.text_of(body) for body in asked}


def test_a_name_that_no_file_can_hold_loses_no_result(tmp_path, monkeypatch):
    reply_of = made_server.reply_of
    monkeypatch.setattr(made_server, "reply_of", lambda *asked: {**reply_of(*asked), "model": "made\0\x1b[31m" + "x" * 1000})
    with made_server.running(made_server.Server()) as port:
        code, _, err = runs.run(written(tmp_path, port), tmp_path / "run")
    assert code == 0, err
    with opened(tmp_path / "run/interview.h5") as file:
        assert file.attrs["server_models"] == r"made\x00\x1b[31m" + "x" * (200 - 16) + "..."


def test_verify_computes_again_from_the_kept_answers(reference, tmp_path):
    _, server, output = reference
    before = server.seen
    done = runs.program("verify", output, "--sample", "1")
    assert done.returncode == 0 and "level S" in done.stdout and "cannot be had again" in done.stdout, done.stdout
    assert server.seen == before  # nothing was asked


@pytest.mark.parametrize("ranks", [1, 3])
def test_faults_of_the_server_change_nothing(reference, tmp_path, ranks):
    faults = ["ok", "status 429", "ok", "status 500", "ok", "cut", "ok", "drop", "slow", "status 503", "page", "ok", "ok"]
    server = made_server.Server(faults)
    with made_server.running(server) as port:
        code, _, err = runs.run(written(tmp_path, port), tmp_path / "run", ranks=ranks)
    assert code == 0, err
    assert runs.digest(tmp_path / "run") == reference[0]
    assert server.most_at_once <= 4 * ranks + 1  # one that the client has given up may still sleep
    assert "is sent again" in err


@pytest.mark.parametrize("ranks, seed", [(1, 1), (2, 2)])
def test_kills_lose_no_answer_and_ask_none_twice(reference, tmp_path, ranks, seed):
    """But for answers that were on their way when the ranks were killed."""
    chance = random.Random(seed)
    server = made_server.Server(["ok", "ok", "status 500", "ok"], pause=0.05)
    on_their_way, ends = 0, []
    with made_server.running(server) as port:
        job = written(tmp_path, port)
        for _ in range(60):
            process = runs.start(job, tmp_path / "run", ranks=ranks)
            killer = threading.Timer(chance.uniform(0.6, 2.5), runs.kill_tree, [process])
            killer.start()
            code, _, err = runs.finish(process)
            killer.cancel()
            ends.append(code)
            on_their_way += 0 if code == 0 else 4 * ranks
            if code == 0:
                break
    assert ends[-1] == 0 and len(ends) > 1, (ends, err)
    assert runs.digest(tmp_path / "run") == reference[0]
    twice = sum(server.answered.values()) - len(server.answered)
    assert len(server.answered) == len(reference[1].answered) and twice <= on_their_way


def test_a_server_that_goes_stops_the_run_which_then_goes_on(reference, tmp_path):
    server = made_server.Server(pause=0.5)
    with made_server.running(server) as port:
        job = written(tmp_path, port, model=MODEL.replace("patience_s: 60", "patience_s: 3"))
        process = runs.start(job, tmp_path / "run", ranks=2)
        runs.wait_for(lambda: sum(server.answered.values()) > 10)
    code, _, err = runs.finish(process)
    assert code == 75, err
    assert "gives no answer since" in err and "run the same command again" in err
    kept, server.pause = sum(server.answered.values()), 0
    with made_server.running(server, port):
        code, _, err = runs.run(job, tmp_path / "run")
    assert code == 0, err
    assert runs.digest(tmp_path / "run") == reference[0]
    assert sum(server.answered.values()) - len(server.answered) <= 8 and kept < sum(server.answered.values())


def test_the_key_comes_from_the_environment_and_stands_nowhere(reference, tmp_path):
    server = made_server.Server(["status 500", "ok"], key=KEY)
    model = MODEL.replace("in_flight: 4", "in_flight: 4, key: MY_KEY")
    with made_server.running(server) as port:
        job = written(tmp_path, port, model=model)
        code, out, err = runs.run(job, tmp_path / "run", ranks=2, environment={"MY_KEY": KEY})
        assert code == 0, err
        wrong_code, _, wrong = runs.run(job, tmp_path / "wrong", environment={"MY_KEY": "sk-wrong-4711"})
        missing_code, _, missing = runs.run(job, tmp_path / "missing")
    assert runs.digest(tmp_path / "run") == reference[0]
    assert wrong_code == 2 and "status 401" in wrong and "[key]" in wrong and "sk-wrong" not in wrong
    assert missing_code == 2 and "MY_KEY, which is not set" in missing
    assert runs.program("stats", tmp_path / "run").returncode == 0
    searched = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(searched) > 5
    for path in searched:
        assert KEY.encode() not in path.read_bytes() and b"sk-wrong" not in path.read_bytes(), path
    assert KEY not in out + err


@pytest.mark.parametrize("status, before", [(200, 165), (400, 487), (500, 165)])
def test_a_key_that_a_server_repeats_is_kept_nowhere(tmp_path, status, before):
    """Whole, or its beginning before the place where a long reply is cut."""
    server = made_server.Server([f"echo {status} {before}", "ok", f"echo {status} 0"] + ["ok"] * 100, key=KEY)
    model = MODEL.replace("in_flight: 4", "in_flight: 1, key: MY_KEY")
    with made_server.running(server) as port:
        code, out, err = runs.run(written(tmp_path, port, RATING, model), tmp_path / "run", environment={"MY_KEY": KEY})
    assert code == 0, err
    with opened(tmp_path / "run/rating.h5") as file:
        problems = " ".join(file["problem"].values.ravel())
    assert "[key]" in (problems if status == 400 else err)
    assert KEY[:5] not in out + err + problems
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or KEY[:5].encode() not in path.read_bytes(), path


def test_a_server_that_refuses_the_trial_ends_the_run_at_once(tmp_path):
    server = made_server.Server(["status 400"])
    model = MODEL.replace("name: made", "name: made, interface: completions, chat: none")
    with made_server.running(server) as port:
        code, _, err = runs.run(written(tmp_path, port, RATING, model), tmp_path / "run")
    assert code == 2 and "status 400: this model's maximum context length is 9" in err, err
    assert server.seen == 1


def test_ratings_of_a_chat_are_sampled(tmp_path):
    server = made_server.Server()
    with made_server.running(server) as port:
        job = written(tmp_path, port, RATING)
        code, _, err = runs.run(job, tmp_path / "run", ranks=2)
        assert code == 0, err
    assert not any("echo" in body for _, body in server.bodies) and len(server.bodies) == 2 * 2 * 2 * 2 * 2
    with opened(tmp_path / "run/rating.h5") as file:
        assert set(flags(file["option_status"]).ravel()) == {"not_asked"}
        given = file["answer_text"].values.ravel()
        assert set(given) == {made_server.text_of(body) for _, body in server.bodies}
    stats = runs.program("stats", tmp_path / "run", "--all")
    assert stats.returncode == 0 and "sampled" in stats.stdout, stats.stderr


def test_probabilities_come_from_completions(tmp_path):
    server = made_server.Server()
    model = MODEL.replace("name: made", "name: made, interface: completions, chat: none")
    with made_server.running(server) as port:
        code, _, err = runs.run(written(tmp_path, port, RATING, model), tmp_path / "run", ranks=2)
        assert code == 0, err
    asked = [body for path, body in server.bodies if body.get("echo")]
    assert asked and all(body["max_tokens"] == 1 and body["logprobs"] == 1 for body in asked)
    with opened(tmp_path / "run/rating.h5") as file:
        assert set(flags(file["option_status"]).ravel()) == {"ok"}
        logprobs, counts = file["option_logprob"].values, file["option_num_tokens"].values
        words = [made_server.logprob_of(" " + word) for word in ("often", "some", "never")]
        letters = [made_server.logprob_of(" " + letter) for letter in "ABC"]
    assert np.allclose(logprobs[..., 0, 0, :], words, atol=1e-12) and np.allclose(logprobs[..., 1, 0, :], words, atol=1e-12)
    assert np.allclose(logprobs[..., 0, 1, :], letters, atol=1e-12) and np.allclose(logprobs[..., 1, 1, :], letters[::-1], atol=1e-12)
    assert set(counts.ravel()) == {1}


def scorer_of(folder):
    """What a server of this checkpoint tells: vLLM lists the token that begins a text, too, and the new one."""
    import torch
    from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast

    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"))

    def score(text):
        ids = tokenizer(text, return_tensors="pt").input_ids
        with torch.no_grad():
            rows = torch.log_softmax(model(ids).logits[0].double(), -1)
        tokens = [tokenizer.decode([token]) for token in ids[0]]
        numbers = [None, *(rows[place - 1, token].item() for place, token in enumerate(ids[0].tolist()) if place > 0)]
        best = rows[-1, : len(tokenizer)].argmax().item()
        return list(zip(tokens, numbers)), (tokenizer.decode([best]), rows[-1, best].item())

    return score


def test_probabilities_of_a_server_are_those_of_its_checkpoint(tmp_path):
    tiny_causal.make("llama3", tmp_path / "model", positions=1024)
    server = made_server.Server(model=scorer_of(tmp_path / "model"))
    job = RATING.replace("sampling: {runs: 2, max_new_tokens: 3}", "sampling: none")
    own = written(tmp_path, 0, job, f"model: {{path: {tmp_path}/model, chat: none}}")
    code, _, err = runs.run(own, tmp_path / "own")
    assert code == 0, err
    model = MODEL.replace("name: made", "name: made, interface: completions, chat: none")
    with made_server.running(server) as port:
        code, _, err = runs.run(written(tmp_path, port, job, model), tmp_path / "asked", ranks=2)
    assert code == 0, err
    with opened(tmp_path / "own/rating.h5") as left, opened(tmp_path / "asked/rating.h5") as right:
        assert (left["option_num_tokens"].values == right["option_num_tokens"].values).all()
        assert left["option_num_tokens"].values.max() > 1
        difference = np.abs(left["option_logprob"].values - right["option_logprob"].values).max()
    assert difference < 1e-3, difference  # of up to twelve tokens, float32 in another order


def test_a_server_with_wrong_probabilities_is_refused(tmp_path):
    """As one that takes the probability of a token from the row behind it."""
    right = made_server.logprob_of

    def shifted(text):
        pieces = made_server.pieces_of(text)
        numbers = [None, *(right(piece) - 2 for piece in pieces[1:])]
        return list(zip(pieces, numbers)), (" warm", right(" warm"))

    model = MODEL.replace("name: made", "name: made, interface: completions, chat: none")
    with made_server.running(made_server.Server(model=shifted)) as port:
        code, _, err = runs.run(written(tmp_path, port, RATING, model), tmp_path / "run", ranks=2)
    assert code == 2 and "gives wrong log-probabilities of a prompt" in err, err


def test_a_text_that_is_too_long_is_data(tmp_path):
    server = made_server.Server(["ok", "ok", "status 400"])
    with made_server.running(server) as port:
        code, _, err = runs.run(written(tmp_path, port, RATING), tmp_path / "run")
    assert code == 0, err
    with opened(tmp_path / "run/rating.h5") as file:
        assert "too_long" in set(flags(file["answer_status"]).ravel())
        assert any("maximum context length" in text for text in file["problem"].values.ravel())


@pytest.mark.parametrize("change, words", [
    ({"http://127.0.0.1:PORT/v1": "127.0.0.1:PORT"}, "no URL of a server"),
    ({"http://127": "http://me:secret@127"}, "environment variable"),
    ({"name: made, ": ""}, "without the name of a model"),
    ({"requests:": "chat: chatml, requests:"}, "a chat template beside model.interface: chat"),
    ({"requests:": "interface: completions, chat: auto, requests:"}, "model.chat: auto beside model.server"),
    ({"requests:": "dtype: bfloat16, requests:"}, "model.dtype says nothing here"),
    ({"requests:": "path: ., requests:"}, "model.path says nothing here"),
    ({"in_flight: 4": "in_flight: 0"}, "in_flight"),
    ({"in_flight: 4": "key: 'sk-1 2'"}, "no name of an environment variable"),
    ({"kind: ratings": "kind: ratings\n          options: true"}, "asks the probabilities"),
    ({"contexts_per_block": "tensor_parallel: 2, contexts_per_block"}, "no model to cut into slices"),
])
def test_what_a_server_cannot_do_is_refused_before_the_run(tmp_path, change, words):
    job, model = INTERVIEW, MODEL
    for old, new in change.items():
        assert old in job + model
        job, model = job.replace(old, new), model.replace(old, new)
    done = runs.program("validate", written(tmp_path, 1, job, model))
    assert done.returncode == 2 and words in done.stderr, done.stderr
    assert "secret" not in done.stderr


def test_other_probes_refuse_a_server(tmp_path):
    job = pathlib.Path(runs.SMOKE).read_text()
    path = tmp_path / "job.yaml"
    path.write_text(job)
    done = runs.program("validate", path, "model={server: 'http://localhost:1/v1', name: x}", "execution.engine=torch")
    assert done.returncode == 2 and "the probe 'association' cannot ask a server" in done.stderr, done.stderr


def test_plan_counts_requests_tokens_and_money(tmp_path, reference):
    job = written(tmp_path, 1, model=MODEL.replace("name: made", "name: made, price: {input: 1, output: 1000000}"))
    done = runs.program("plan", job, "--show-prompts", "--limit", "2")
    assert done.returncode == 0, done.stderr
    count = len(reference[1].answered)
    assert f"requests   {count} requests" in done.stdout and f"at most {3 * count} tokens of answers" in done.stdout
    assert f"at most about {3 * count}.0" in done.stdout
    prompts = [json.loads(json.loads(line.split("\t")[1])) for line in done.stdout.splitlines() if "\t" in line]
    assert prompts[0][0]["role"] == "user" and "Say what most people think." in prompts[0][0]["content"]


def test_plan_labels_each_prompt_with_its_context(tmp_path):
    done = runs.program("plan", written(tmp_path, 1, RATING), "--show-prompts", "--limit", "5")
    assert done.returncode == 0, done.stderr
    prompts = [line.split("\t") for line in done.stdout.splitlines() if "\t" in line]
    asked = ["teachers friendly", "teachers friendly", "teachers able", "teachers able", "nurses friendly"]
    assert sorted({int(context) for context, _ in prompts}) == [0, 1, 2, 3, 4]
    for context, prompt in prompts:
        assert all(word in prompt for word in asked[int(context)].split()), (context, prompt)


def test_plan_lists_what_is_left_out(tmp_path):
    groups = """groups:
    - {label: women, singular: woman, plural: women, domain: gender}
    - {label: teachers, singular: teacher, plural: teachers, domain: job}
    - {label: nurses, singular: nurse, plural: nurses, domain: job}
  intersections: {domains: [[gender, job]], exclusions: [[women, teachers]]}"""
    job = written(tmp_path, 1, RATING.replace("groups: [teachers, nurses]", groups))
    summary = runs.program("validate", job).stdout
    assert "groups and intersections left out: " in summary and "(see plan)" in summary, summary
    assert "each with 3 options in 2 orders and 4 sampled answers" in summary, summary
    planned = runs.program("plan", job).stdout
    assert re.search(r"^groups and intersections left out: \d+\n  \S", planned, re.MULTILINE), planned


@pytest.mark.parametrize("said, roles", [("Be brief.", ["system", "user"]), ("none", ["user"]), ("default", ["user"])])
def test_a_system_text_goes_first(tmp_path, said, roles):
    job = written(tmp_path, 1, model=MODEL.replace("name: made", f"name: made, system: {said}"))
    done = runs.program("plan", job, "--show-prompts", "--limit", "1")
    assert done.returncode == 0, done.stderr
    prompts = [json.loads(json.loads(line.split("\t")[1])) for line in done.stdout.splitlines() if "\t" in line]
    assert [message["role"] for message in prompts[0]] == roles
    assert prompts[0][0]["content"] == said or roles == ["user"]


def test_a_redirection_is_not_followed(tmp_path):
    class Elsewhere(http.server.BaseHTTPRequestHandler):
        def log_message(self, *arguments):
            pass

        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"] or 0))
            self.send_response(307)
            self.send_header("Location", f"http://127.0.0.1:{target}/v1/chat/completions")
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_GET = do_POST

    server = made_server.Server()
    with made_server.running(server) as target, http.server.ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere) as first:
        threading.Thread(target=first.serve_forever, daemon=True).start()
        code, _, err = runs.run(written(tmp_path, first.server_address[1]), tmp_path / "run",
                                environment={"http_proxy": f"http://127.0.0.1:{target}"})
        first.shutdown()
    assert code == 2 and "status 307" in err and server.seen == 0, err


def test_a_name_that_the_server_does_not_list_is_warned_of(tmp_path):
    with made_server.running(made_server.Server()) as port:
        job = written(tmp_path, port, model=MODEL.replace("name: made", "name: mode"))
        code, _, err = runs.run(job, tmp_path / "run")
    assert code == 0 and "does not list the model 'mode' (it lists made)" in err, err

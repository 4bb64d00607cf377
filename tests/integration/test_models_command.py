"""`models` says of every model on the machine what it is and which probes fit; the engine must agree."""
import json
import shutil
import subprocess

import elmo_models
import runs
import tiny_models
from test_model_names import FIRST, PLANTED, SECOND, add_to_cache, program

CAUSAL = runs.ROOT / "tests/models/planted_causal"


def blocks(said):
    """{model: {name: text}} of what was printed."""
    found, lines = {}, said.splitlines()
    for line in lines:
        assert len(line) <= 100, line
        if not line.startswith(" "):
            own = found.setdefault(line, {})
        elif line.startswith("  ") and line[2] != " ":
            key, _, text = line[2:].partition(" ")
            own[key] = text.strip()
        else:
            own[key] += " " + line.strip()
    return found


def test_each_kind_of_model_and_what_keeps_probes_from_it(tmp_path):
    cache, here = tmp_path / "hub", tmp_path / "models"
    add_to_cache(cache, "org/planted", PLANTED, FIRST)
    add_to_cache(cache, "org/causal", CAUSAL, SECOND, ref="v1")
    reference = tiny_models.make_bert(here / "whole")
    reference.model.bert.save_pretrained(here / "headless")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(here / "whole" / name, here / "headless")
    shutil.copytree(here / "whole", here / "weightless")
    (here / "weightless/model.safetensors").unlink()
    (here / "strange").mkdir()
    (here / "strange/config.json").write_text(json.dumps({"model_type": "t5"}))
    found = blocks(program("models", here, cache=cache))
    every = {"association", "contexts", "coreference", "interview", "rating"}
    masked, causal = found["org/planted"], found["org/causal@v1"]
    assert masked["revision"] == f"{FIRST} (main)" and causal["revision"] == f"{SECOND} (v1)"
    assert (masked["family"], masked["head"], masked["fits"]) == ("bert", "masked", "association, contexts")
    assert masked["not"] == "coreference, interview, rating (it asks causal models)"
    assert causal["head"] == "causal" and set(causal["fits"].split(", ")) == every - {"association"}
    assert causal["not"] == "association (it asks masked models)"
    size = (PLANTED / "model.safetensors").stat().st_size
    assert masked["size"] == f"{size / 1e6:.3g} MB of weights"
    headless = found[str(here / "headless")]
    assert headless["head"] == "none: vectors alone" and headless["fits"] == "contexts"
    assert "association (no head that predicts words is stored)" in headless["not"]
    assert "no weights lie here" in found[str(here / "weightless")]["problem"]
    assert '"t5" is not supported' in found[str(here / "strange")]["problem"] and "fits" not in found[str(here / "strange")]
    line = json.dumps({"kind": "continue", "prompt": "the", "continuations": [" a"]}) + "\n"
    for path, fits in (("org/planted", False), ("org/causal@v1", True)):
        answer = subprocess.run([runs.PROGRAM, "query", "--model", path], input=line, capture_output=True, text=True,
                                env=runs.os.environ | {"HF_HUB_CACHE": str(cache)}, timeout=300).stdout
        assert ("logprob" in answer) == fits, answer


def test_a_half_fetched_model_an_empty_cache_and_a_wrong_directory(tmp_path):
    cache = tmp_path / "hub"
    assert "no models in the Hugging Face cache" in program("models", cache=cache)
    snapshot = add_to_cache(cache, "org/planted", PLANTED, FIRST)
    (snapshot / "model.safetensors").unlink()
    assert f"hf download org/planted --revision {FIRST}" in blocks(program("models", cache=cache))["org/planted"]["problem"]
    assert "no model in" in program("models", tmp_path / "nowhere", cache=cache, code=2)


def test_elmo_gives_vectors(tmp_path):
    elmo_models.write(tmp_path / "elmo", elmo_models.TINY)
    found = blocks(program("models", tmp_path / "elmo", cache=tmp_path / "hub"))[str(tmp_path / "elmo")]
    assert found["family"] == "elmo" and found["fits"] == "contexts"

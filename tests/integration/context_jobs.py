"""Small contexts jobs: a corpus of made-up sentences, sets of words, and what the program should make of them."""

import random

SETS = {
    "x": ["rose", "lily", "daisy", "poppy", "snow drop"],
    "y": ["ant", "bee", "wasp", "flea"],
    "a": ["love", "peace", "joy"],
    "b": ["pain", "war", "grief", "fear"],
}
FILLERS = "the a one of my old cold river house late never often quietly said that most".split()


def write_corpus(path, seed=1, lines=400, words=None, longest=9):
    """Sentences of filler words and one or two of the words; 'flea' never occurs, 'poppy' twice."""
    rng = random.Random(seed)
    words = words or [word for group in SETS.values() for word in group if word not in ("flea", "poppy")]
    text = ["My poppy said never.", "the poppy"]
    for _ in range(lines):
        parts = rng.choices(FILLERS, k=rng.randint(2, longest)) + rng.choices(words, k=rng.randint(1, 2))
        rng.shuffle(parts)
        text.append(" ".join(parts) + rng.choice(["", ".", ", no"]))
    path.write_text("\n".join(text) + "\n")
    return path


def write_job(path, model, corpus, sets=None, engine="fake", extra=""):
    sets = sets or SETS
    quoted = {name: "[" + ", ".join(f'"{word}"' for word in words) + "]" for name, words in sets.items()}
    path.write_text(f"""schema: stereosweep/1
name: contexts_small
seed: 5
model: {{path: {model}}}
probe: contexts
corpus: {{files: [{corpus}], max_contexts: 12}}
vectors: {{layer: -1, pool: mean, keep: float32}}
axes:
  tests:
    - {{label: T1, title: flowers and insects, x: {{label: flowers, words: {quoted['x']}}}, y: {{label: insects, words: {quoted['y']}}},
        a: {{label: good, words: {quoted['a']}}}, b: {{label: bad, words: {quoted['b']}}}}}
    - {{label: T2, title: flowers alone, kind: wefat, x: {{label: flowers, words: {quoted['x']}}},
        a: {{label: good, words: {quoted['a']}}}, b: {{label: bad, words: {quoted['b']}}}}}
    - {{label: T3, title: nobody, x: {{label: fleas, words: [flea]}}, y: {{label: ants, words: [ant, bee]}},
        a: {{label: good, words: {quoted['a']}}}, b: {{label: bad, words: {quoted['b']}}}}}
samples: 600
execution: {{engine: {engine}, contexts_per_block: 4, device: cpu}}
{extra}""")
    return path

"""ELMo directories with seeded random weights, and the published algorithm in numpy (float64), a sentence and a step at a time."""
import json

import h5py
import numpy

TINY = {"filters": [[1, 4], [2, 8], [3, 16], [4, 32], [5, 64]], "character_size": 4, "highways": 2, "layers": 2,
        "cell": 16, "projection": 8}
LARGER = {"filters": [[1, 32], [2, 32], [3, 64], [4, 128], [5, 100]], "character_size": 16, "highways": 2, "layers": 2,
          "cell": 300, "projection": 72}


def options_of(shape, activation="relu", cell_clip=3, projection_clip=3):
    return {"lstm": {"use_skip_connections": True, "projection_dim": shape["projection"], "cell_clip": cell_clip,
                     "proj_clip": projection_clip, "dim": shape["cell"], "n_layers": shape["layers"]},
            "char_cnn": {"activation": activation, "filters": shape["filters"], "n_highway": shape["highways"],
                         "embedding": {"dim": shape["character_size"]}, "n_characters": 262,
                         "max_characters_per_token": 50}}


def random_weights(shape, seed):
    """{path in the file: float32 array}, wide enough that gates open and close and both clips are met.

    What an LSTM takes from its own past is weaker than what it reads, as in trained models: otherwise rounding grows
    from step to step, and no two programs agree.
    """
    draw = numpy.random.default_rng(seed)

    def normal(*size, fan_in=1, gain=1.0):
        return (draw.standard_normal(size) * gain / fan_in ** 0.5).astype(numpy.float32)

    size, width, cell = shape["character_size"], shape["projection"], shape["cell"]
    total = sum(count for _, count in shape["filters"])
    weights = {"char_embed": normal(261, size)}
    for i, (length, count) in enumerate(shape["filters"]):
        weights[f"CNN/W_cnn_{i}"] = normal(1, length, size, count, fan_in=length * size)
        weights[f"CNN/b_cnn_{i}"] = normal(count, gain=0.3)
    for k in range(shape["highways"]):
        for part in ("carry", "transform"):
            weights[f"CNN_high_{k}/W_{part}"] = normal(total, total, fan_in=total)
            weights[f"CNN_high_{k}/b_{part}"] = normal(total, gain=0.3)
    weights["CNN_proj/W_proj"] = normal(total, width, fan_in=total)
    weights["CNN_proj/b_proj"] = normal(width, gain=0.3)
    for direction in (0, 1):
        for layer in range(shape["layers"]):
            place = f"RNN_{direction}/RNN/MultiRNNCell/Cell{layer}/LSTMCell/"
            weights[place + "W_0"] = numpy.vstack([normal(width, 4 * cell, fan_in=width, gain=1.1),
                                                   normal(width, 4 * cell, fan_in=width, gain=0.4)])
            weights[place + "B"] = normal(4 * cell, gain=0.5)
            weights[place + "W_P_0"] = normal(cell, width, fan_in=cell, gain=4)
    return weights


def write(folder, shape, options=None, names=("options.json", "weights.hdf5"), seed=20220710):
    """Writes both files; returns the reference."""
    options = options or options_of(shape)
    weights = random_weights(shape, seed)
    folder.mkdir(exist_ok=True)
    (folder / names[0]).write_text(json.dumps(options))
    with h5py.File(folder / names[1], "w") as file:
        for path, array in weights.items():
            file[path] = array
    return Reference(folder, options, weights)


def sigmoid(x):
    return 1 / (1 + numpy.exp(-x))


class Reference:
    """The algorithm of peters2018 as its published code runs it, for one sentence that starts from zeros."""

    def __init__(self, folder, options, weights):
        self.folder, self.options = folder, options
        self.weights = {path: array.astype(numpy.float64) for path, array in weights.items()}
        self.clipped = {"cell": 0, "projection": 0}

    def character_ids(self, word):
        """Fifty ids, all raised by one: zero is for words that are not there."""
        if word in ("begin of sentence", "end of sentence"):
            inner = [256 if word.startswith("begin") else 257]
        else:
            inner = list(word.encode()[:48])
        ids = [258, *inner, 259]
        return [number + 1 for number in ids + [260] * (50 - len(ids))]

    def word_vector(self, word):
        cnn, weights = self.options["char_cnn"], self.weights
        table = numpy.vstack([numpy.zeros((1, weights["char_embed"].shape[1])), weights["char_embed"]])
        letters = table[self.character_ids(word)]
        parts = []
        for i, (length, _) in enumerate(cnn["filters"]):
            kernel = weights[f"CNN/W_cnn_{i}"][0]
            answers = [numpy.einsum("kd,kdf->f", letters[start:start + length], kernel)
                       for start in range(50 - length + 1)]
            largest = numpy.max(answers, axis=0) + weights[f"CNN/b_cnn_{i}"]
            parts.append(numpy.tanh(largest) if cnn["activation"] == "tanh" else numpy.maximum(largest, 0))
        vector = numpy.concatenate(parts)
        for k in range(cnn["n_highway"]):
            high = {name: weights[f"CNN_high_{k}/{name}"] for name in ("W_carry", "b_carry", "W_transform", "b_transform")}
            gate = sigmoid(vector @ high["W_carry"] + high["b_carry"])
            fresh = numpy.maximum(vector @ high["W_transform"] + high["b_transform"], 0)
            vector = gate * fresh + (1 - gate) * vector
        return vector @ weights["CNN_proj/W_proj"] + weights["CNN_proj/b_proj"]

    def clip(self, values, kind, limit):
        if not limit:
            return values
        self.clipped[kind] += int((abs(values) > limit).sum())
        return numpy.clip(values, -limit, limit)

    def lstm(self, inputs, direction, layer):
        settings = self.options["lstm"]
        place = f"RNN_{direction}/RNN/MultiRNNCell/Cell{layer}/LSTMCell/"
        matrix, bias, project = (self.weights[place + name] for name in ("W_0", "B", "W_P_0"))
        memory, state = numpy.zeros(settings["dim"]), numpy.zeros(settings["projection_dim"])
        outputs = []
        for vector in inputs:
            take, fresh, keep, show = numpy.split(numpy.concatenate([vector, state]) @ matrix + bias, 4)
            memory = sigmoid(keep + 1) * memory + sigmoid(take) * numpy.tanh(fresh)
            memory = self.clip(memory, "cell", settings["cell_clip"])
            state = self.clip((sigmoid(show) * numpy.tanh(memory)) @ project, "projection", settings["proj_clip"])
            outputs.append(state)
        return numpy.array(outputs)

    def hidden(self, words):
        """[layer, word, 2 projection] of a sentence."""
        vectors = numpy.array([self.word_vector(word) for word in ["begin of sentence", *words, "end of sentence"]])
        layers = [numpy.hstack([vectors, vectors])]
        forwards, backwards = vectors, vectors[::-1]
        for layer in range(self.options["lstm"]["n_layers"]):
            new_forwards, new_backwards = self.lstm(forwards, 0, layer), self.lstm(backwards, 1, layer)
            forwards = new_forwards + (forwards if layer else 0)
            backwards = new_backwards + (backwards if layer else 0)
            layers.append(numpy.hstack([forwards, backwards[::-1]]))
        return numpy.array(layers)[:, 1:-1]

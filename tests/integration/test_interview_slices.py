"""Interviews of a model that is cut in two: both halves draw the same tokens, and the texts are those of the whole model."""

import numpy as np
import pytest
import runs
import tiny_causal
from cubes import opened
from test_interview import JOB

# Sums of slices are added in another order: logits are off by a few float32 roundings, the mean of their logarithms too.
ROUNDING = 2e-4


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    folder = tmp_path_factory.mktemp("job")
    tiny_causal.make("llama2", folder / "model", positions=1024)
    text = JOB.replace("MODEL", str(folder / "model")).replace("max_new_tokens: 3", "max_new_tokens: 24, temperature: 1")
    (folder / "job.yaml").write_text(text.replace("engine: fake, ", ""))
    return folder / "job.yaml"


def answers(job, output, *settings, ranks):
    code, _, err = runs.run(job, output, *settings, ranks=ranks)
    assert code == 0, err
    return opened(output / "interview.h5")


def test_texts_of_two_slices_are_those_of_the_whole_model(job, tmp_path):
    whole = answers(job, tmp_path / "whole", ranks=1)
    sliced = answers(job, tmp_path / "sliced", "execution.tensor_parallel=2", ranks=2)
    np.testing.assert_array_equal(sliced.answer_text.values, whole.answer_text.values)
    np.testing.assert_array_equal(sliced.answer_num_tokens.values, whole.answer_num_tokens.values)
    np.testing.assert_allclose(sliced.answer_mean_logprob.values, whole.answer_mean_logprob.values, rtol=0, atol=ROUNDING)
    asked = whole.answer_num_tokens.values > 0
    assert len(set(whole.answer_text.values[asked].tolist())) > asked.sum() / 2, "the texts hardly differ"

"""The program finds again what was planted: the interviews of jobs/70_stereomap.yaml over the bundled chat model."""

import recover_chat  # beside this file


def test_what_was_planted_comes_out_again(planted_run):
    right, first, count = recover_chat.compare(planted_run / "interview.h5")
    assert set(right) >= {"answered", "range", "refused", "off_scale", "contradictory", "unparsed", "truncated", "missing", "keywords"}
    # Fitted to 98 % of the ratings and 92 % of the keyword lists; eight answers of each other status.
    least = {"answered": 0.96, "keywords": 0.85}
    for status, (good, total) in right.items():
        assert total >= 8 and good >= least.get(status, 0.6) * total, (status, good, total)
    # Five standard errors of a share of 0.7, and 0.02 for the fit.
    assert abs(first - 0.7) < 0.02 + 5 * (0.7 * 0.3 / count) ** 0.5

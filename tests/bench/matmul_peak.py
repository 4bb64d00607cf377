"""This machine's matrix product rate on one thread, by processor seconds (others may use the machine): one JSON object
{"float32": GFLOP/s, "bfloat16": GFLOP/s}, the best of several shapes and repetitions."""
import json
import time

import torch

SHAPES = ((1024, 1024, 1024), (2048, 2048, 2048), (512, 768, 3072), (1024, 768, 3072), (512, 1024, 4096))


def rate(rows, inner, columns, dtype):
    """GFLOP/s of x W^T."""
    x, w = torch.randn(rows, inner).to(dtype), torch.randn(columns, inner).to(dtype)
    operations = 2 * rows * inner * columns
    repeats = max(1, int(2e10 // operations))
    best = float("inf")
    for _ in range(12):
        start = time.process_time()
        for _ in range(repeats):
            torch.nn.functional.linear(x, w)
        best = min(best, (time.process_time() - start) / repeats)
    return operations / best / 1e9


with torch.inference_mode():
    torch.set_num_threads(1)
    print(json.dumps({str(dtype).removeprefix("torch."): max(rate(*shape, dtype) for shape in SHAPES)
                      for dtype in (torch.float32, torch.bfloat16)}))

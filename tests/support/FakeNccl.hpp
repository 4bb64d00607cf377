// A stand-in for libnccl.so.2 (its SONAME): a test that links it needs no GPU. Beside NCCL's own functions:
#pragma once

#include <cstddef>

extern "C" {

/// Waits for the sums that this process has enqueued, as whoever waits for the stream does.
void fake_stream_wait();
/// From now on communicators of this process report this ncclResult_t; 0: none.
void fake_nccl_error(int error);
/// How often this process has aborted a communicator.
int fake_nccl_aborts();
/// From now on a sum is done by `add` when it is enqueued on a stream, and may have any number of numbers; null: as
/// before.
void fake_nccl_add_by(void (*add)(float* numbers, std::size_t count, void* stream));
}

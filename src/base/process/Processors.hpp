// What the process has of its machine: the processors that a thread may run on (launchers bind each rank to some of
// those that the job has), threads, and memory, asked for so that the kernel's work on pages is not a part of every
// step.
#pragma once

#include <span>
#include <string>

namespace stereosweep::base {

/// Those of the calling thread, as bytes to compare and to send: bit p of the bytes is processor p, zeros at the end
/// are left out. Empty where the kernel does not say.
std::string own_processors();

/// How many processors the calling thread may run on, at least 1. (std::thread::hardware_concurrency counts those of
/// the machine.)
unsigned num_own_processors();

/// While it lives, the thread that made it may run on every processor of `sets`, and so may threads that it starts;
/// the kernel leaves out what the process was not granted. Then the thread returns to its own.
class ProcessorLoan {
 public:
  explicit ProcessorLoan(std::span<const std::string> sets);
  ProcessorLoan(const ProcessorLoan&) = delete;
  ProcessorLoan& operator=(const ProcessorLoan&) = delete;
  ~ProcessorLoan();

 private:
  std::string own_;
};

/// Starts that many threads at once and ends them. Throws std::system_error where the system refuses one: libraries
/// with threads of their own (OpenMP) end the process then.
void require_threads(int count);

/// Freed memory stays with the process, up to 512 MiB: glibc would give blocks of a few hundred kB back to the kernel
/// at every free and get them zeroed at every malloc. For the whole process.
void keep_freed_memory();

}  // namespace stereosweep::base

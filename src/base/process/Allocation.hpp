// How the host's memory is asked for, so that the kernel's work on pages is not a part of every step.
#pragma once

namespace stereosweep::base {

/// Freed memory stays with the process, up to 512 MiB: glibc would give blocks of a few hundred kB back to the kernel
/// at every free and get them zeroed at every malloc. For the whole process.
void keep_freed_memory();

}  // namespace stereosweep::base

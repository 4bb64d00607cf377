// Whether a job's sentences are English: what the program itself adds to them is.
#pragma once

#include <span>
#include <string>

namespace stereosweep::config {

/// Judged by the commonest words of English and of other languages, without what stands in braces. True where the
/// words are too few to tell.
bool seems_english(std::span<const std::string> texts);

}  // namespace stereosweep::config

// One maker for each kind of probe; `make_probe` picks by the settings that the job holds.
#pragma once

#include <memory>

#include "probe/Probe.hpp"

namespace stereosweep::probe {

/// Each throws InputError with everything that keeps the job from being asked of this tokenizer.
std::unique_ptr<Probe> make_association(const domain::Job& job, const tokenizer::Tokenizer& tokenizer);
std::unique_ptr<Probe> make_rating(const domain::Job& job, const tokenizer::Tokenizer& tokenizer);
std::unique_ptr<Probe> make_coreference(const domain::Job& job, const tokenizer::Tokenizer& tokenizer);

}  // namespace stereosweep::probe

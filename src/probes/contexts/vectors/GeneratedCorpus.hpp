// Sentences made of templates x rephrasings in which the words of the tests stand: a target in the group's place, an
// attribute in the trait's.
#pragma once

#include <cstdint>

#include "corpus/Sample.hpp"
#include "probes/contexts/Contexts.hpp"

namespace stereosweep::probes::contexts {

/// Every sentence of a target and an attribute of one test, in the templates that ask for the target's form (a target
/// that is no group stands in every template). Of each word a uniform sample of its sentences, whose draw depends on
/// the seed, the word, the labels of template and rephrasing, and the other word. `lines` counts the sentences.
corpus::Sample generate_contexts(const Contexts& settings, std::uint64_t seed);

}  // namespace stereosweep::probes::contexts

// The store of vectors as every rank opens it, once rank zero has written it.
#pragma once

#include <filesystem>
#include <memory>
#include <span>

#include "probes/contexts/VectorStore.hpp"

namespace stereosweep::probes::contexts {

/// Opens `file`. Network file systems may show another node the new file late, or an older one first: until `patience`
/// has passed, what is missing, of another size or of other words is looked at again. Throws InputError after that.
std::shared_ptr<const VectorStore> open_store(const std::filesystem::path& file, std::span<const WordVectors> words,
                                              std::uint64_t dimension, std::chrono::duration<double> patience);

}  // namespace stereosweep::probes::contexts

// The store of vectors as every rank opens it, once rank zero has written it.
#pragma once

#include <filesystem>
#include <memory>
#include <span>

#include "probe/VectorStore.hpp"
#include "run/Timing.hpp"

namespace stereosweep::run {

/// Opens `file`. Network file systems may show another node the new file late, or an older one first: until `patience`
/// has passed, what is missing, of another size or of other words is looked at again. Throws InputError after that.
std::shared_ptr<const probe::VectorStore> open_store(const std::filesystem::path& file,
                                                     std::span<const probe::WordVectors> words, std::uint64_t dimension,
                                                     Seconds patience);

}  // namespace stereosweep::run

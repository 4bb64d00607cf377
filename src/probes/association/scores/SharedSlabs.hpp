// Slabs of an association result under several ranks: all but rank zero read and fold them, rank zero takes them in
// their order. So every number is made by the same steps as on one rank.
#pragma once

#include <cstdint>
#include <functional>

#include "parallel/Communicator.hpp"
#include "probes/association/scores/ScoreReader.hpp"

namespace stereosweep::probes::association {

/// On every rank but zero: sends this rank's share, at most two slabs ahead of what rank zero has taken.
void send_slabs(const parallel::Communicator& world, const ScoreReader& reader);

/// On rank zero: `use(slab)` of all slabs in canonical order.
void receive_slabs(const parallel::Communicator& world, std::uint64_t num_slabs,
                   const std::function<void(const ScoreSlab&)>& use);

}  // namespace stereosweep::probes::association

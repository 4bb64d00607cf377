// What statistics have computed so far, kept beside the result, so that a stats after a killed one does not begin anew.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "parallel/Communicator.hpp"

namespace stereosweep::findings {

/// Pieces of work by their place in the order in which they are asked for, which is the same in every call with the
/// same settings and number of ranks. A piece that took a tenth of a second is written down.
class KeptPieces {
 public:
  /// Collective. Takes what a call before has left in rank zero's `path`, if it is whole and of the same `digest`,
  /// which names all that the pieces depend on.
  KeptPieces(const parallel::Communicator& ranks, const std::filesystem::path& path, std::string digest);
  /// Collective: the next piece, taken over or computed. Throws Error where it cannot be written.
  std::vector<std::byte> next(const std::function<std::vector<std::byte>()>& compute);
  /// When the result is written: removes the file, and says in the log what was taken over.
  void end();

 private:
  std::filesystem::path path_;  ///< empty on other ranks
  std::string digest_;
  std::string body_;
  std::map<std::uint64_t, std::vector<std::byte>> found_;
  std::uint64_t place_ = 0;
  std::uint64_t num_taken_over_ = 0;
};

/// Those that share work, and where it is kept.
struct Workers : parallel::Communicator {
  KeptPieces* kept = nullptr;  ///< borrowed; null: nothing is kept
};

}  // namespace stereosweep::findings

#include "run/checks/DiskCheck.hpp"

#include <system_error>

#include "base/Error.hpp"
#include "probes/PlanText.hpp"

namespace stereosweep::run {

using probes::megabytes;

std::uint64_t free_space(const std::filesystem::path& folder) {
  std::error_code unknown;
  return std::filesystem::space(folder, unknown).available;
}

std::string check_space(const std::filesystem::path& folder, const OutputSize& size, std::uint64_t free) {
  const auto there = megabytes(double(free)) + " are free at " + folder.string();
  const auto journal =
      "the blocks that are left need " + megabytes(double(size.journal)) + " in the journal" +
      (size.of_round > 0 ? ", " + megabytes(double(size.of_round)) + " in files that are removed behind a round" : "");
  const auto needed = size.journal + size.of_round;
  const auto advice = "free some space, or give an --output on another disk";
  base::fail_if(free < needed, "the results do not fit the disk: " + there, journal, advice);
  if (free - needed < size.exported) {
    return base::describe("the disk may become full: " + there,
                          journal + " and up to " + megabytes(double(size.exported)) + " in the HDF5 file", advice);
  }
  return {};
}

}  // namespace stereosweep::run

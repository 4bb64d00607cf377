#include "config/ProbeFormat.hpp"

#include <algorithm>

#include "base/Error.hpp"
#include "base/text/Text.hpp"

namespace stereosweep::config {
namespace {

std::vector<const ProbeFormat*>& formats() {
  static std::vector<const ProbeFormat*> all;
  return all;
}

}  // namespace

void check_cells(const ProbeReading& job, const std::vector<std::pair<std::uint64_t, std::string>>& lengths) {
  std::uint64_t cells = 1;
  bool overflow = false;
  std::string product;
  for (const auto& [length, noun] : lengths) {
    overflow = overflow || __builtin_mul_overflow(cells, length, &cells);
    product += (product.empty() ? "" : " x ") + base::with_thousands(length) + " " + noun;
  }
  const auto limit = static_cast<std::uint64_t>(job.execution.max_cells);
  if (overflow || cells > limit) {
    const auto sum = overflow ? "" : " = " + base::with_thousands(cells) + " cells";
    job.problems.add(job.place("axes"), "too many cells: up to " + product + sum,
                     "limit: " + base::with_thousands(limit) + " cells",
                     "Shorten an axis, or raise execution.max_cells.");
  }
}

std::vector<sweep::KeyFault> ProbeFormat::server_faults(const sweep::Job& /*job*/) const {
  return {{"model", "the probe '" + std::string(name()) + "' cannot ask a server",
           "it needs the model's own tokens, masks or vectors, and a server completes texts",
           "Name a checkpoint: model.path."}};
}

void add_probe_format(const ProbeFormat& format) {
  STEREOSWEEP_ASSERT(std::ranges::find(formats(), format.name(), &ProbeFormat::name) == formats().end(),
                     "the name of a probe is new");
  formats().push_back(&format);
}

std::span<const ProbeFormat* const> probe_formats() { return formats(); }

const ProbeFormat& format_of(std::string_view name) {
  const auto found = std::ranges::find(formats(), name, &ProbeFormat::name);
  base::refuse_if(found == formats().end(), "no probe is called '" + std::string(name) + "'",
                  "the file was written by another version of this program");
  return **found;
}

}  // namespace stereosweep::config

#include "probes/PlanText.hpp"

#include <algorithm>
#include <cstdio>
#include <ostream>

#include "base/Text.hpp"
#include "hdf5/Handle.hpp"

namespace stereosweep::probes {

std::string PlanSample::sum(std::uint64_t value, std::string_view noun) const {
  const auto all = is_exact() ? value : static_cast<std::uint64_t>(whole(value));
  return (is_exact() ? "" : "about ") + (noun.empty() ? base::with_thousands(all) : base::counted(all, noun));
}

void PlanSample::print_note(std::ostream& out) const {
  if (!is_exact()) {
    plan_line(out, "note") << "what follows as 'about' was counted in " << base::with_thousands(contexts_read)
                           << " contexts of blocks spread over the product\n";
  }
}

std::string format_number(const char* pattern, double value) {
  char text[64];
  std::snprintf(text, sizeof text, pattern, value);
  return text;
}

std::string megabytes(double bytes) {
  return bytes < 1e5 ? format_number("%.0f kB", bytes / 1e3)
                     : format_number(bytes < 1e7 ? "%.1f MB" : "%.0f MB", bytes / 1e6);
}

std::ostream& plan_line(std::ostream& out, const std::string& name) {
  return out << name << std::string(11 - std::min<std::size_t>(10, name.size()), ' ');
}

void print_blocks(std::ostream& out, const sweep::Job& job, const sweep::BlockPlan& blocks, int num_ranks) {
  const auto ranks = static_cast<std::uint64_t>(num_ranks);
  plan_line(out, "blocks") << base::with_thousands(blocks.num_blocks()) << " of at most "
                           << base::counted(static_cast<std::uint64_t>(job.execution.contexts_per_block), "context")
                           << "; " << base::with_thousands((blocks.num_blocks() + ranks - 1) / ranks) << " per rank on "
                           << base::counted(ranks, "rank");
  if (blocks.num_blocks() < ranks) {
    out << "; " << base::counted(ranks - blocks.num_blocks(), "rank") << " will have nothing to do";
  }
  out << '\n';
}

double output_bytes(const results::RawSchema& schema, std::uint64_t num_contexts, double text_bytes) {
  double per_context = 0;
  for (const auto& cube : schema.cubes) {
    const auto size = static_cast<double>(hdf5::element_size(cube.type));
    per_context += size * static_cast<double>(schema.values_per_context(cube));
  }
  return per_context * static_cast<double>(num_contexts) + text_bytes;
}

void print_list(std::ostream& out, const char* title, const std::map<std::string, std::set<std::string>>& items,
                const char* what, std::uint64_t limit) {
  if (items.empty()) {
    return;
  }
  out << title << ": " << items.size() << '\n';
  std::uint64_t printed = 0;
  for (const auto& [word, details] : items) {
    if (printed++ == limit) {
      out << "  ... " << items.size() - limit << " more (--limit)\n";
      return;
    }
    out << "  " << word << "  (" << what << ": " << *details.begin();
    out << (details.size() > 1 ? "; and " + base::counted(details.size() - 1, "other way") + ")" : ")") << '\n';
  }
}

void print_omissions(std::ostream& out, const std::vector<sweep::Omission>& omissions, std::uint64_t limit) {
  if (omissions.empty()) {
    return;
  }
  out << "groups and intersections left out: " << base::with_thousands(omissions.size()) << '\n';
  for (std::uint64_t i = 0; i < omissions.size() && i < limit; ++i) {
    const auto& [first, second, reason] = omissions[i];
    out << "  " << first << (second.empty() ? "" : " + " + second) << ": " << reason << '\n';
  }
  if (omissions.size() > limit) {
    out << "  ... " << omissions.size() - limit << " more (--limit)\n";
  }
}

}  // namespace stereosweep::probes

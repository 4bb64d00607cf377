// Lines that the plans of all probes print.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <set>
#include <string>

#include "results/RawBlock.hpp"
#include "sweep/Job.hpp"
#include "sweep/Product.hpp"
#include "sweep/Subjects.hpp"

namespace stereosweep::probes {

std::string format_number(const char* pattern, double value);
/// "12 kB", "3.4 MB"
std::string megabytes(double bytes);
/// The head of a line, padded: "blocks     ".
std::ostream& plan_line(std::ostream& out, const std::string& name);
/// How many blocks there are and how many each rank gets.
void print_blocks(std::ostream& out, const sweep::Job& job, const sweep::BlockPlan& blocks, int ranks);
/// Size of the journal: the cubes of all contexts, and `text_bytes` of texts.
double output_bytes(const results::RawSchema& schema, std::uint64_t num_contexts, double text_bytes);
/// Items with one of their details each, at most `limit` of them; nothing where there are none.
void print_list(std::ostream& out, const char* title, const std::map<std::string, std::set<std::string>>& items,
                const char* what, std::uint64_t limit);
/// Groups and pairs of groups that are not measured, each with its reason, at most `limit`; nothing where there are
/// none.
void print_omissions(std::ostream& out, const std::vector<sweep::Omission>& omissions, std::uint64_t limit);

}  // namespace stereosweep::probes

#include "model/causal/attention/TreeSections.hpp"

#include <algorithm>
#include <ranges>

namespace stereosweep::model {
namespace {

// A row that asks: where it stands.
struct AskingRow {
  const TreeSections::Section* section;
  std::int32_t number;  // of the section
  std::int32_t place;   // in it

  std::int32_t position() const { return section->depth + place; }
};

// Of a section that begins at `depth` the first place that a row at `position` sees.
std::int32_t first_seen(std::int32_t depth, std::int32_t position, std::int64_t window) {
  return window > 0 ? static_cast<std::int32_t>(std::max<std::int64_t>(0, position + 1 - window - depth)) : 0;
}

std::vector<AskingRow> asking_rows(const TreeSections& tree, std::span<const std::int64_t> rows) {
  std::vector<AskingRow> places;
  places.reserve(rows.size());
  for (const auto row : rows) {
    const auto number = tree.section_of[static_cast<std::size_t>(row)];
    places.push_back(
        {&tree.sections[static_cast<std::size_t>(number)], number, tree.place_of[static_cast<std::size_t>(row)]});
  }
  return places;
}

// Whether `right` is the next row of the section of `left`.
bool follows(const AskingRow& left, const AskingRow& right) {
  return right.number == left.number && right.place == left.place + 1;
}

SectionCall own_call(std::span<const AskingRow> places, std::int64_t window, const SectionLimits& limits) {
  SectionCall call;
  for (std::size_t first = 0; first < places.size();) {
    auto last = first + 1;
    const auto fits = [&](const AskingRow& next) { return limits.knows_windows || window == 0 || next.place < window; };
    while (last < places.size() && follows(places[last - 1], places[last]) && fits(places[last]) &&
           static_cast<std::int64_t>(last - first) < limits.most_queries) {
      ++last;
    }
    const auto& front = places[first];
    const auto begin = first_seen(front.section->depth, front.position(), window);
    const auto end = places[last - 1].place + 1;
    call.segments.add(static_cast<std::int32_t>(last - first), front.section->first_slot + begin, end - begin,
                      front.section->depth + begin);
    if (last - first > 1) {
      call.segments.mask = SegmentMask::before;
      if (window > 0 && end > window) {
        call.segments.window = window;
      }
    }
    first = last;
  }
  return call;
}

// Keys of one query at one level; none: `count` is 0.
struct SeenKeys {
  std::int32_t begin = 0;
  std::int32_t count = 0;
  std::int32_t place = 0;  // of the first one in its path
  bool operator==(const SeenKeys&) const = default;
};

SectionCall level_call(std::span<const AskingRow> places, std::span<const SeenKeys> seen, std::int64_t window,
                       const SectionLimits& limits) {
  SectionCall call;
  call.lacks.resize(places.size());
  bool any_lacks = false;
  // Those that lack keys share the first one's own: all of them must see it.
  const auto most_lacking = window > 0 ? std::min<std::int64_t>(window, limits.most_queries) : limits.most_queries;
  for (std::size_t first = 0; first < places.size();) {
    const bool lacks = seen[first].count == 0;
    const auto most = lacks ? most_lacking : limits.most_queries;
    auto last = first + 1;
    while (last < places.size() && seen[last] == seen[first] && (!lacks || follows(places[last - 1], places[last])) &&
           static_cast<std::int64_t>(last - first) < most) {
      ++last;
    }
    const auto own = places[first].section->first_slot + places[first].place;
    call.segments.add(static_cast<std::int32_t>(last - first), lacks ? own : seen[first].begin,
                      lacks ? 1 : seen[first].count, lacks ? places[first].position() : seen[first].place);
    std::fill(call.lacks.begin() + static_cast<std::ptrdiff_t>(first),
              call.lacks.begin() + static_cast<std::ptrdiff_t>(last), static_cast<char>(lacks));
    any_lacks = any_lacks || lacks;
    first = last;
  }
  if (!any_lacks) {
    call.lacks.clear();
  }
  return call;
}

}  // namespace

TreeSections find_sections(const TokenTree& tree, std::span<const std::int32_t> slots) {
  TreeSections found;
  found.section_of.resize(slots.size());
  found.place_of.resize(slots.size());
  std::vector<std::int32_t> children(tree.branches.size());
  for (const auto& branch : tree.branches) {
    if (branch.parent >= 0) {
      ++children[static_cast<std::size_t>(branch.parent)];
    }
  }
  for (const auto& branch : tree.branches) {
    std::int32_t number = -1;  // the section that the row before is in
    bool may_join = false;
    if (branch.parent >= 0) {
      const auto& parent = tree.branches[static_cast<std::size_t>(branch.parent)];
      number = found.section_of[static_cast<std::size_t>(parent.first + parent.length - 1)];
      may_join = children[static_cast<std::size_t>(branch.parent)] == 1;
    }
    for (std::int32_t i = 0; i < branch.length; ++i) {
      const auto row = static_cast<std::size_t>(branch.first + i);
      const auto* above = number < 0 ? nullptr : &found.sections[static_cast<std::size_t>(number)];
      if (above == nullptr || !may_join || slots[row] != above->first_slot + above->length) {
        const auto level = above == nullptr ? 0 : above->level + 1;
        found.sections.push_back({slots[row], 0, number, branch.depth + i, level});
        number = static_cast<std::int32_t>(found.sections.size()) - 1;
      }
      auto& section = found.sections[static_cast<std::size_t>(number)];
      found.section_of[row] = number;
      found.place_of[row] = section.length++;
      may_join = true;
    }
  }
  return found;
}

namespace {

// How sections are joined where those that are at most `longest` long, with what is in front of them, are copied.
struct Joining {
  std::vector<std::int32_t> begins;   // [section] the first section of its copy
  std::vector<std::int32_t> lengths;  // [section] of its copy
  std::vector<std::int32_t> levels;   // [section]
  std::vector<char> needed;           // [section]
  std::int64_t places = 0;            // of all that are needed
  std::int32_t highest_level = 0;
};

Joining joined(const TreeSections& tree, std::span<const std::int64_t> rows, std::int64_t longest) {
  const auto count = tree.sections.size();
  Joining found{std::vector<std::int32_t>(count), std::vector<std::int32_t>(count), std::vector<std::int32_t>(count),
                std::vector<char>(count)};
  for (std::size_t i = 0; i < count; ++i) {
    const auto& section = tree.sections[i];
    const auto above = static_cast<std::size_t>(section.parent);
    const bool copies = section.parent >= 0 && found.lengths[above] <= longest;
    found.begins[i] = copies ? found.begins[above] : static_cast<std::int32_t>(i);
    found.lengths[i] = section.length + (copies ? found.lengths[above] : 0);
    found.levels[i] = section.parent < 0 ? 0 : found.levels[above] + (copies ? 0 : 1);
  }
  for (const auto row : rows) {
    const auto own = static_cast<std::size_t>(tree.section_of[static_cast<std::size_t>(row)]);
    found.needed[own] = 1;
    found.highest_level = std::max(found.highest_level, found.levels[own]);
  }
  for (auto i = count; i-- > 0;) {
    if (found.needed[i] != 0) {
      found.places += found.lengths[i];
      const auto above = tree.sections[static_cast<std::size_t>(found.begins[i])].parent;
      if (above >= 0) {
        found.needed[static_cast<std::size_t>(above)] = 1;
      }
    }
  }
  return found;
}

JoinedSections laid_out(const TreeSections& tree, const Joining& joining) {
  JoinedSections out{tree, {}};
  out.slots.reserve(static_cast<std::size_t>(joining.places));
  std::vector<std::int32_t> path;
  for (std::size_t i = 0; i < tree.sections.size(); ++i) {
    const auto& first = tree.sections[static_cast<std::size_t>(joining.begins[i])];
    const auto place = static_cast<std::int32_t>(out.slots.size());
    out.sections.sections[i] = {place, 0, first.parent, first.depth, joining.levels[i]};
    if (joining.needed[i] == 0) {
      continue;
    }
    out.sections.sections[i].length = joining.lengths[i];
    path.clear();
    for (auto at = static_cast<std::int32_t>(i); path.empty() || path.back() != joining.begins[i];
         at = tree.sections[static_cast<std::size_t>(at)].parent) {
      path.push_back(at);
    }
    for (const auto at : path | std::views::reverse) {
      const auto& section = tree.sections[static_cast<std::size_t>(at)];
      for (std::int32_t row = 0; row < section.length; ++row) {
        out.slots.push_back(section.first_slot + row);
      }
    }
  }
  for (std::size_t row = 0; row < tree.section_of.size(); ++row) {
    const auto own = static_cast<std::size_t>(tree.section_of[row]);
    out.sections.place_of[row] += joining.lengths[own] - tree.sections[own].length;
  }
  return out;
}

}  // namespace

std::optional<JoinedSections> join_sections(const TreeSections& tree, std::span<const std::int64_t> rows,
                                            const JoinLimits& limits) {
  const auto as_they_are = joined(tree, rows, 0);
  const auto most = std::min(limits.times * as_they_are.places, limits.most);
  for (const std::int64_t longest : {std::numeric_limits<std::int64_t>::max(), std::int64_t{64}, std::int64_t{16}}) {
    const auto joining = joined(tree, rows, longest);
    if (joining.highest_level >= as_they_are.highest_level) {
      return std::nullopt;  // nor would shorter ones help
    }
    if (joining.places <= most) {
      return laid_out(tree, joining);
    }
  }
  return std::nullopt;
}

std::vector<SectionCall> cut_calls(const TreeSections& tree, std::span<const std::int64_t> rows, std::int64_t window,
                                   const SectionLimits& limits) {
  const auto places = asking_rows(tree, rows);
  std::vector<SectionCall> calls{own_call(places, window, limits)};
  std::int32_t levels = 0;
  for (const auto& place : places) {
    levels = std::max(levels, place.section->level);
  }
  std::vector<std::vector<SeenKeys>> seen(static_cast<std::size_t>(levels), std::vector<SeenKeys>(rows.size()));
  for (std::size_t i = 0; i < places.size(); ++i) {
    for (auto above = places[i].section->parent; above >= 0;) {
      const auto& section = tree.sections[static_cast<std::size_t>(above)];
      const auto begin = first_seen(section.depth, places[i].position(), window);
      if (begin < section.length) {
        seen[static_cast<std::size_t>(section.level)][i] = {section.first_slot + begin, section.length - begin,
                                                            section.depth + begin};
      }
      above = section.parent;
    }
  }
  for (const auto& level : seen) {
    if (std::ranges::any_of(level, [](const SeenKeys& keys) { return keys.count > 0; })) {
      calls.push_back(level_call(places, level, window, limits));
    }
  }
  return calls;
}

}  // namespace stereosweep::model

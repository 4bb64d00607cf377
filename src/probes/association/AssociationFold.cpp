#include "probes/association/AssociationFold.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/Check.hpp"

namespace stereosweep::probes::association {

namespace {

results::RawColumn empty_column(results::ElementType type, std::size_t count) {
  switch (type) {
    case results::ElementType::float64:
      return std::vector<double>(count, std::numeric_limits<double>::quiet_NaN());
    case results::ElementType::float32:
      return std::vector<float>(count, std::numeric_limits<float>::quiet_NaN());
    case results::ElementType::int32:
      return std::vector<std::int32_t>(count, -1);
    case results::ElementType::uint8:
      return std::vector<std::uint8_t>(count, 0);
    case results::ElementType::text:
      break;
  }
  return std::vector<std::string>(count);
}

CellStatus worse(CellStatus left, CellStatus right) { return std::max(left, right); }

}  // namespace

AssociationFold::AssociationFold(const results::RawSchema& schema, const AssociationColumns& columns,
                                 const Measures& measures, std::uint64_t num_contexts)
    : columns_(columns), measures_(measures) {
  num_words_ = schema.inner_axis("word").labels.size();
  max_subwords_ = schema.inner_axis("subword").labels.size();
  for (const auto& cube : schema.cubes) {
    block_.columns.push_back(empty_column(cube.type, num_contexts * schema.values_per_context(cube)));
  }
  for (int number = 0; number < 9; ++number) {
    const int column = columns_.number[number];
    if (column >= 0) {
      auto* values = std::get_if<std::vector<double>>(&block_.columns[column]);
      numbers_[number] = values == nullptr ? nullptr : values->data();
    }
  }
  if (measures_.set) {
    active_bias_ = std::get<std::vector<std::int32_t>>(block_.columns[columns_.of(Number::set_active_bias)]).data();
    active_plain_ = std::get<std::vector<std::int32_t>>(block_.columns[columns_.of(Number::set_active_plain)]).data();
  }
  auto& subwords = std::get<std::vector<std::int32_t>>(block_.columns[columns_.num_subwords]);
  std::fill(subwords.begin(), subwords.end(), 0);
}

void AssociationFold::add_unasked(std::size_t context, const ContextView& view) {
  auto& status = std::get<std::vector<std::uint8_t>>(block_.columns[columns_.status]);
  const auto begin = status.begin() + static_cast<std::ptrdiff_t>(context * num_words_);
  std::fill_n(begin, num_words_, static_cast<std::uint8_t>(CellStatus::no_form));
  std::get<std::vector<std::string>>(block_.columns[columns_.problem])[context] = view.problem;
}

const query::SlotAnswer& AssociationFold::slot_of(const ContextView& view, const Ask& ask,
                                                  const query::FillAnswer& answer) const {
  STEREOSWEEP_ASSERT(answer.slots.size() == view.masks_before + ask.num_masks + view.masks_after, "an answer per mask");
  const auto& slot = answer.slots[view.masks_before + ask.prefix.size()];
  STEREOSWEEP_ASSERT(slot.logprob.size() == ask.targets.size(), "a log-probability per target");
  STEREOSWEEP_ASSERT(!measures_.set || slot.set.size() == ask.targets.size(), "a distance per target");
  return slot;
}

void AssociationFold::add(std::size_t context, const ContextView& view, std::span<const query::Answer> answers) {
  std::get<std::vector<std::string>>(block_.columns[columns_.prompt])[context] =
      view.text.before + "{trait}" + view.text.after;
  auto& problem = std::get<std::vector<std::string>>(block_.columns[columns_.problem])[context];
  auto* subwords = std::get<std::vector<std::int32_t>>(block_.columns[columns_.num_subwords]).data();
  auto* statuses = std::get<std::vector<std::uint8_t>>(block_.columns[columns_.status]).data();
  std::vector<const query::SlotAnswer*> slots(answers.size(), nullptr);
  std::vector<CellStatus> failures(answers.size(), CellStatus::ok);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (const auto* error = std::get_if<query::QueryError>(&answers[i])) {
      failures[i] = error->fault == query::QueryFault::too_long ? CellStatus::too_long : CellStatus::engine_error;
      problem = problem.empty() ? error->message : problem;
      continue;
    }
    const auto* fill = std::get_if<query::FillAnswer>(&answers[i]);
    STEREOSWEEP_ASSERT(fill != nullptr, "a fill query has a fill answer");
    slots[i] = &slot_of(view, view.targets->asks[i], *fill);
  }
  for (std::size_t w = 0; w < num_words_; ++w) {
    const WordTargets& word = view.targets->words[w];
    const std::size_t cell = context * num_words_ + w;
    CellStatus status = word.status;
    for (std::size_t subword = 0; subword < word.places.size(); ++subword) {
      const Place& place = word.places[subword];
      if (place.ask == Place::nowhere) {
        continue;
      }
      const bool failed = slots[place.ask] == nullptr;
      status =
          worse(status, failed ? failures[place.ask]
                               : add_subword(cell * max_subwords_ + subword, subword, place.target, *slots[place.ask]));
    }
    subwords[cell] = word.num_subwords;
    statuses[cell] = static_cast<std::uint8_t>(status);
  }
}

CellStatus AssociationFold::add_subword(std::size_t place, std::size_t subword, std::size_t target,
                                        const query::SlotAnswer& slot) {
  numbers(Number::logprob)[place] = slot.logprob[target];
  CellStatus status = std::isfinite(slot.logprob[target]) ? CellStatus::ok : CellStatus::not_finite;
  if (measures_.ilps_star) {
    numbers(Number::log_mass_initial)[place] = slot.log_mass_initial;
    numbers(Number::log_mass_continuation)[place] = slot.log_mass_continuation;
    // The other mass may be -inf: a vocabulary without continuation tokens is no fault.
    const double read = subword == 0 ? slot.log_mass_initial : slot.log_mass_continuation;
    const bool is_good = std::isfinite(read) && !std::isnan(slot.log_mass_initial + slot.log_mass_continuation);
    status = worse(status, is_good ? CellStatus::ok : CellStatus::not_finite);
  }
  return measures_.set ? worse(status, add_set(place, slot.set[target])) : status;
}

CellStatus AssociationFold::add_set(std::size_t place, const query::SetDistance& set) {
  numbers(Number::set_distance_bias)[place] = set.distance_bias;
  numbers(Number::set_distance_plain)[place] = set.distance_plain;
  numbers(Number::set_threshold_bias)[place] = set.threshold_bias;
  numbers(Number::set_threshold_plain)[place] = set.threshold_plain;
  active_bias_[place] = set.active_bias;
  active_plain_[place] = set.active_plain;
  if (set.status_bias == query::SetStatus::not_certified || set.status_plain == query::SetStatus::not_certified) {
    return CellStatus::set_not_certified;
  }
  if (!std::isfinite(set.distance_bias) || !std::isfinite(set.distance_plain)) {
    return CellStatus::not_finite;
  }
  const bool reaches_one = set.distance_bias >= 1 || set.distance_plain >= 1;
  return reaches_one ? CellStatus::set_distance_reaches_one : CellStatus::ok;
}

}  // namespace stereosweep::probes::association

// OLMo 3: OLMo 2 with a window in three of four layers, which keep plain angles where the others' are stretched.
// (source: transformers, modeling_olmo3.py, configuration_olmo3.py)
#include "model/families/LlamaLike.hpp"

namespace stereosweep::model::families {
namespace {

CausalSpecification read_olmo3(const ConfigFields& fields) {
  constexpr double theta = 500000;
  auto specification = read_olmo_like(fields);
  set_windows(fields, {.pattern = 4}, specification);
  // rope_theta of the old spelling counts for the layers without a window alone: so transformers reads it.
  read_two_rotaries(fields, {fields.number("rope_theta", theta), theta}, specification);
  return specification;
}

}  // namespace

CausalFamily olmo3_family() { return {"olmo3", read_olmo3, 50279}; }

}  // namespace stereosweep::model::families

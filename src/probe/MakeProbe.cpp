#include "probe/MakeProbe.hpp"

#include "base/Error.hpp"

namespace stereosweep::probe {
namespace {

/// A kind of probe without its overload does not compile.
struct Maker {
  const domain::Job& job;
  const tokenizer::Tokenizer& tokenizer;
  std::unique_ptr<Probe> operator()(const domain::Association& /*settings*/) const {
    return make_association(job, tokenizer);
  }
  std::unique_ptr<Probe> operator()(const domain::Rating& /*settings*/) const { return make_rating(job, tokenizer); }
  std::unique_ptr<Probe> operator()(const domain::Coreference& /*settings*/) const {
    return make_coreference(job, tokenizer);
  }
  std::unique_ptr<Probe> operator()(const domain::Contexts& /*settings*/) const {
    throw base::InputError(base::describe("a contexts job cannot be run", "this version only checks such jobs"));
  }
};

}  // namespace

std::unique_ptr<Probe> make_probe(const domain::Job& job, const tokenizer::Tokenizer& tokenizer) {
  return std::visit(Maker{job, tokenizer}, job.probe);
}

}  // namespace stereosweep::probe

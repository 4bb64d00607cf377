// Each subject's mean of a cube of raw numbers, by this project's own reader, which checks a file before it opens it
// and reads any range of contexts. Built as build/release/bin/read_raw with the tests; it links stereosweep::results.
//   build/release/bin/read_raw results/planted/association.h5 logprob
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <variant>
#include <vector>

#include "base/Error.hpp"
#include "results/Reader.hpp"

int main(int count, char** arguments) {
  if (count != 3) {
    return std::fprintf(stderr, "usage: read_raw FILE.h5 CUBE\n"), 2;
  }
  try {
    const stereosweep::results::ResultFile file(arguments[1]);
    const auto& cubes = file.schema().cubes;
    const auto cube = std::ranges::find(cubes, arguments[2], &stereosweep::results::CubeSchema::name);
    stereosweep::base::refuse_if(cube == cubes.end(), arguments[1], "it has no such cube", "");
    const auto per_subject = file.contexts_per_subject();
    const auto& subjects = file.schema().outer_axes.front().labels;  // priors first
    for (std::size_t subject = 0; subject < subjects.size(); ++subject) {
      const auto block = file.read(subject * per_subject, per_subject);
      double sum = 0;
      double n = 0;
      for (const double value :
           std::get<std::vector<double>>(block.columns[static_cast<std::size_t>(cube - cubes.begin())])) {
        if (std::isfinite(value)) {  // NaN: the cube `status` says why
          sum += value, ++n;
        }
      }
      std::printf("%s\t%.17g\n", subjects[subject].c_str(), sum / n);
    }
  } catch (const std::exception& error) {
    return std::fprintf(stderr, "read_raw: %s\n", error.what()), 2;
  }
}

// See LinkProbe.cmake: std::string crosses the border of every library.
#include <ATen/Version.h>
#include <boost/program_options.hpp>
#include <yaml-cpp/yaml.h>

#include <iostream>
#ifdef STEREOSWEEP_PROBE_GTEST
#include <gtest/gtest.h>
#endif

int main(int argc, char** argv) {
#ifdef STEREOSWEEP_PROBE_GTEST
  testing::InitGoogleTest(&argc, argv);
#endif
  boost::program_options::options_description options("probe");
  options.add_options()("name", boost::program_options::value<std::string>());
  std::cout << argc << (argv != nullptr) << at::show_config() << YAML::Dump(YAML::Load("a: 1")) << options;
  return 0;
}

// stereosweep with the probes that come with it.
#include "app/Program.hpp"
#include "probes/Registry.hpp"

int main(int argc, char** argv) {
  stereosweep::probes::register_probes();
  stereosweep::app::run_program(argc, argv);
}

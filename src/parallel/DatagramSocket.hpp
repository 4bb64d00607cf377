// Short letters between processes that need no MPI: one UDP socket. For the room's own sources and tests only.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace stereosweep::parallel {

/// Where a socket is reached; IPv4, host byte order.
struct Endpoint {
  std::uint32_t address = 0;
  std::uint16_t port = 0;
  bool operator==(const Endpoint&) const = default;
};

inline constexpr std::uint32_t loopback_address = 0x7f000001;

/// Local calls; `wait` and `wake` in any thread, the rest under the owner's lock. A letter arrives whole or not at all,
/// and nobody says which.
class DatagramSocket {
 public:
  /// Any address of this machine, any port. Where the system gives no socket, nobody is reached and nothing received.
  DatagramSocket();
  DatagramSocket(const DatagramSocket&) = delete;
  DatagramSocket& operator=(const DatagramSocket&) = delete;
  ~DatagramSocket();

  std::uint16_t port() const;
  /// Only letters from there are received, and `refused` tells when that socket is gone.
  void connect(const Endpoint& peer) const;
  void send(std::span<const std::byte> letter, const Endpoint& peer);

  struct Received {
    std::vector<std::byte> letter;
    Endpoint sender;
  };
  /// Never waits.
  std::optional<Received> receive();
  /// A machine has answered that nobody holds the socket any more that this one is connected to.
  bool refused() const { return refused_; }
  /// Sleeps until something can be received or `wake` is called, at most `longest`.
  void wait(std::chrono::duration<double> longest) const;
  void wake() const;

 private:
  void note_error(int error);
  int socket_ = -1;
  int event_ = -1;
  bool refused_ = false;
};

/// This machine's IPv4 addresses but the loopback's, each once.
std::vector<std::uint32_t> own_addresses();

}  // namespace stereosweep::parallel

#include "parallel/DatagramSocket.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>

namespace stereosweep::parallel {
namespace {

constexpr std::size_t longest_letter = 2048;

sockaddr_in to_socket_address(const Endpoint& endpoint) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(endpoint.address);
  address.sin_port = htons(endpoint.port);
  return address;
}

}  // namespace

DatagramSocket::DatagramSocket()
    : socket_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)),
      event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  const auto any = to_socket_address({});
  if (::bind(socket_, reinterpret_cast<const sockaddr*>(&any), sizeof(any)) != 0 && socket_ >= 0) {
    ::close(socket_);
    socket_ = -1;
  }
}

DatagramSocket::~DatagramSocket() {
  for (const int descriptor : {socket_, event_}) {
    if (descriptor >= 0) {
      ::close(descriptor);
    }
  }
}

std::uint16_t DatagramSocket::port() const {
  sockaddr_in own{};
  socklen_t size = sizeof(own);
  ::getsockname(socket_, reinterpret_cast<sockaddr*>(&own), &size);
  return ntohs(own.sin_port);
}

void DatagramSocket::connect(const Endpoint& peer) const {
  const auto address = to_socket_address(peer);
  [[maybe_unused]] const int status = ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
}

void DatagramSocket::note_error(int error) { refused_ = refused_ || error == ECONNREFUSED; }

void DatagramSocket::send(std::span<const std::byte> letter, const Endpoint& peer) {
  const auto address = to_socket_address(peer);
  if (::sendto(socket_, letter.data(), letter.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address),
               sizeof(address)) < 0) {
    note_error(errno);
  }
}

std::optional<DatagramSocket::Received> DatagramSocket::receive() {
  std::array<std::byte, longest_letter> buffer{};
  sockaddr_in sender{};
  socklen_t size = sizeof(sender);
  const auto length = ::recvfrom(socket_, buffer.data(), buffer.size(), 0, reinterpret_cast<sockaddr*>(&sender), &size);
  if (length < 0) {
    note_error(errno);
    return std::nullopt;
  }
  return Received{{buffer.begin(), buffer.begin() + length}, {ntohl(sender.sin_addr.s_addr), ntohs(sender.sin_port)}};
}

void DatagramSocket::wait(std::chrono::duration<double> longest) const {
  std::array<pollfd, 2> watched = {pollfd{socket_, POLLIN, 0}, pollfd{event_, POLLIN, 0}};
  ::poll(watched.data(), watched.size(), static_cast<int>(std::ceil(longest.count() * 1e3)));
}

void DatagramSocket::wake() const {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(event_, &one, sizeof(one));
}

std::vector<std::uint32_t> own_addresses() {
  std::vector<std::uint32_t> addresses;
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) {
    return addresses;
  }
  for (const auto* item = first; item != nullptr; item = item->ifa_next) {
    if (item->ifa_addr == nullptr || item->ifa_addr->sa_family != AF_INET || (item->ifa_flags & IFF_UP) == 0 ||
        (item->ifa_flags & IFF_LOOPBACK) != 0) {
      continue;
    }
    const auto address = ntohl(reinterpret_cast<const sockaddr_in*>(item->ifa_addr)->sin_addr.s_addr);
    if (std::ranges::find(addresses, address) == addresses.end()) {
      addresses.push_back(address);
    }
  }
  ::freeifaddrs(first);
  return addresses;
}

}  // namespace stereosweep::parallel

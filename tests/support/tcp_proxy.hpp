// Stands between a client and a server and breaks their connection in the ways that networks do.
// Forwards bytes between a unix socket or TCP port of its own and a target; on a thread of its own.
// Each member function may be called from any one thread and has taken effect when it returns.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace order_timeout::test {

// A unix socket where `path` is set, else 127.0.0.1:port; port 0 to listen on means a free one.
struct ProxyAddress {
  std::string path;
  std::uint16_t port = 0;
};

struct ProxyRoute {
  ProxyAddress listen;
  ProxyAddress target;
};

enum class Way : std::uint8_t { to_server, to_client };

// Whether the bytes that set off a cut still reach the server: true loses the answer, false loses
// the request.
enum class LastBytes : bool { lost, forwarded };

class TcpProxy {
 public:
  explicit TcpProxy(const ProxyRoute& route);  // throws where it cannot listen
  TcpProxy(const TcpProxy&) = delete;
  TcpProxy& operator=(const TcpProxy&) = delete;
  ~TcpProxy();

  std::uint16_t port() const;  // that it listens on; 0 for a unix socket

  void cut_all();     // closes every connection now; new ones are taken
  void refuse_new();  // stops listening: connection refused
  void accept_new();  // listens again, at the same place
  void delay(Way way, std::chrono::milliseconds each_chunk);
  // From now on answers are read and thrown away: the server seems to hang. Cut the connections
  // afterwards, their streams have holes.
  void swallow_answers(bool swallow);

  // Once: cuts the connection that passes the next `bytes` bytes this way, after the last of them.
  void cut_after(Way way, std::size_t bytes);
  // Once: cuts the connection whose client sends `text`, also when it comes in pieces. The client
  // sees its connection closed; where the bytes are forwarded the server reads them all, then the
  // end.
  void cut_when_client_sends(std::string text, LastBytes last_bytes);
  // Whether the cut last asked for has happened, now or within the time.
  bool wait_for_cut(std::chrono::milliseconds limit);

  std::size_t connections() const;  // open now
  std::size_t accepted() const;     // since the start

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace order_timeout::test

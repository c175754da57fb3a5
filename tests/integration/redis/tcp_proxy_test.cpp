// The proxy that other tests rely on breaks connections exactly as it says. Seen with a blocking
// client in front of it and a plain server behind.
#include "support/tcp_proxy.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <string>
#include <thread>

#include "support/redis_server.hpp"

namespace order_timeout::test {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;
using asio::ip::tcp;
using ErrorCode = boost::system::error_code;

class Proxied : public ::testing::Test {
 protected:
  // A connection through the proxy: what the client holds and what the server does.
  struct Pair {
    tcp::socket client;
    tcp::socket server;
  };

  Pair connect() {
    tcp::socket client(context_);
    client.connect({asio::ip::address_v4::loopback(), proxy_.port()});
    return Pair{std::move(client), server_.accept()};
  }

  static void send(tcp::socket& socket, const std::string& text) {
    asio::write(socket, asio::buffer(text));
  }

  // `size` bytes, fewer where the connection ends before.
  static std::string read(tcp::socket& socket, std::size_t size) {
    std::string text(size, '\0');
    ErrorCode ended;
    text.resize(asio::read(socket, asio::buffer(text), ended));
    return text;
  }

  static bool is_silent(tcp::socket& socket, std::chrono::milliseconds limit) {
    timeval time{0, static_cast<suseconds_t>(limit.count() * 1000)};
    setsockopt(socket.native_handle(), SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
    char byte = 0;
    return recv(socket.native_handle(), &byte, 1, 0) < 0;
  }

  asio::io_context context_;
  tcp::acceptor server_{context_, {asio::ip::address_v4::loopback(), 0}};
  TcpProxy proxy_{ProxyRoute{{"", 0}, {"", server_.local_endpoint().port()}}};
};

TEST_F(Proxied, BytesPassUnchangedBothWays) {
  Pair pair = connect();
  const std::string large(300'000, 'x');
  std::thread sender([&] { send(pair.client, "ask" + large); });
  EXPECT_EQ(read(pair.server, 300'003), "ask" + large);
  sender.join();
  send(pair.server, "answer");
  EXPECT_EQ(read(pair.client, 6), "answer");
  EXPECT_EQ(proxy_.connections(), 1U);
  EXPECT_EQ(proxy_.accepted(), 1U);
}

TEST_F(Proxied, AnEndOfOneSideStillLetsTheOtherAnswer) {
  Pair pair = connect();
  send(pair.client, "last");
  pair.client.shutdown(tcp::socket::shutdown_send);
  EXPECT_EQ(read(pair.server, 10), "last");
  send(pair.server, "answer");
  pair.server.close();
  EXPECT_EQ(read(pair.client, 100), "answer");
}

TEST_F(Proxied, CutAllEndsWhatIsOpenAndTakesNewOnes) {
  Pair pair = connect();
  send(pair.client, "x");
  ASSERT_EQ(read(pair.server, 1), "x");
  proxy_.cut_all();
  EXPECT_EQ(read(pair.client, 1), "");
  EXPECT_EQ(read(pair.server, 1), "");
  Pair next = connect();
  send(next.client, "y");
  EXPECT_EQ(read(next.server, 1), "y");
}

TEST_F(Proxied, RefusesNewConnectionsUntilToldToAccept) {
  const std::uint16_t port = proxy_.port();
  proxy_.refuse_new();
  tcp::socket refused(context_);
  ErrorCode error;
  refused.connect({asio::ip::address_v4::loopback(), port}, error);
  EXPECT_EQ(error, asio::error::connection_refused);
  proxy_.accept_new();
  EXPECT_EQ(proxy_.port(), port);
  Pair pair = connect();
  send(pair.client, "x");
  EXPECT_EQ(read(pair.server, 1), "x");
}

TEST_F(Proxied, DelaysTheWayItIsToldTo) {
  Pair pair = connect();
  proxy_.delay(Way::to_client, 400ms);
  const auto start = std::chrono::steady_clock::now();
  send(pair.client, "a");
  ASSERT_EQ(read(pair.server, 1), "a");
  const auto asked = std::chrono::steady_clock::now();
  EXPECT_LT(asked - start, 300ms);
  send(pair.server, "b");
  ASSERT_EQ(read(pair.client, 1), "b");
  EXPECT_GE(std::chrono::steady_clock::now() - asked, 400ms);
}

TEST_F(Proxied, SwallowedAnswersNeverArrive) {
  Pair pair = connect();
  proxy_.swallow_answers(true);
  send(pair.client, "a");
  ASSERT_EQ(read(pair.server, 1), "a");
  send(pair.server, "b");
  EXPECT_TRUE(is_silent(pair.client, 100ms));
}

TEST_F(Proxied, CutsAfterExactlySoManyBytesOfTheAnswer) {
  Pair pair = connect();
  proxy_.cut_after(Way::to_client, 5);
  EXPECT_FALSE(proxy_.wait_for_cut(0ms));
  send(pair.server, "123456789");
  EXPECT_EQ(read(pair.client, 9), "12345");
  EXPECT_TRUE(proxy_.wait_for_cut(5s));
  Pair next = connect();
  send(next.server, "123456789");
  EXPECT_EQ(read(next.client, 9), "123456789");
}

TEST_F(Proxied, CutsAfterExactlySoManyBytesOfTheRequest) {
  Pair pair = connect();
  proxy_.cut_after(Way::to_server, 5);
  send(pair.client, "123");
  ASSERT_EQ(read(pair.server, 3), "123");
  send(pair.client, "456");
  EXPECT_EQ(read(pair.server, 6), "45");
  EXPECT_EQ(read(pair.client, 1), "");
}

TEST_F(Proxied, CutsAtATextThatComesInPiecesAndLosesTheAnswer) {
  Pair pair = connect();
  proxy_.cut_when_client_sends("close_orders", LastBytes::forwarded);
  send(pair.client, "select close_");
  ASSERT_EQ(read(pair.server, 13), "select close_");
  EXPECT_FALSE(proxy_.wait_for_cut(0ms));
  send(pair.client, "orders()");
  EXPECT_EQ(read(pair.server, 100), "orders()");
  EXPECT_EQ(read(pair.client, 1), "");
  EXPECT_TRUE(proxy_.wait_for_cut(5s));
}

TEST_F(Proxied, CutsAtATextAndLosesTheRequest) {
  Pair pair = connect();
  proxy_.cut_when_client_sends("close_orders", LastBytes::lost);
  send(pair.client, "select close_orders()");
  EXPECT_EQ(read(pair.server, 100), "");
  EXPECT_EQ(read(pair.client, 1), "");
}

TEST(ProxiedSocket, StandsInFrontOfAUnixSocketWithOneOfItsOwn) {
  const RedisServer server;
  const std::string path = server.socket_path() + ".proxy";
  const TcpProxy proxy(ProxyRoute{{path, 0}, {server.socket_path(), 0}});
  EXPECT_EQ(proxy.port(), 0);
  asio::io_context context;
  asio::local::stream_protocol::socket client(context);
  client.connect(asio::local::stream_protocol::endpoint(path));
  asio::write(client, asio::buffer("PING\r\n", 6));
  std::string answer(7, '\0');
  asio::read(client, asio::buffer(answer));
  EXPECT_EQ(answer, "+PONG\r\n");
}

TEST(ProxiedSocket, ClosesAClientWhoseServerIsAbsent) {
  const TcpProxy proxy(ProxyRoute{{"", 0}, {"/nowhere/redis.sock", 0}});
  asio::io_context context;
  tcp::socket client(context);
  client.connect({asio::ip::address_v4::loopback(), proxy.port()});
  char byte = 0;
  ErrorCode error;
  EXPECT_EQ(asio::read(client, asio::buffer(&byte, 1), error), 0U);
  EXPECT_TRUE(error);
}

}  // namespace
}  // namespace order_timeout::test

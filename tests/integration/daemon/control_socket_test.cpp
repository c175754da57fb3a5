// Proves that the control socket is for its owner and group, bounded in size, clients and time, and
// that neither garbage nor a leftover of a dead daemon stops it.
#include "daemon/control_socket.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <filesystem>
#include <fstream>
#include <vector>

#include "support/loop.hpp"
#include "support/temp_dir.hpp"

namespace order_timeout::daemon {
namespace {

namespace asio = boost::asio;
using Protocol = asio::local::stream_protocol;
using ::testing::HasSubstr;

asio::awaitable<std::string> echo(std::string line) { co_return "<" + line + ">"; }

asio::awaitable<std::string> converse(std::string path, std::string words) {
  constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);
  Protocol::socket socket(co_await asio::this_coro::executor);
  const Protocol::endpoint there(path);
  const auto [refused] = co_await socket.async_connect(there, kAwait);
  if (refused) co_return "refused";
  auto buffer = asio::buffer(words);
  co_await asio::async_write(socket, buffer, kAwait);
  std::string answer;
  auto room = asio::dynamic_buffer(answer);
  co_await asio::async_read_until(socket, room, '\n', kAwait);
  co_return answer;
}

class Control : public ::testing::Test {
 protected:
  std::string ask(const std::string& words) { return test::run_on(loop_, converse(path_, words)); }

  asio::io_context loop_;
  testing::TempDir directory_;
  std::string path_ = (directory_.path() / "control.sock").string();
  ControlSocket socket_{loop_.get_executor(), path_, echo};
};

TEST_F(Control, AnswersALineWithALine) {
  ASSERT_TRUE(socket_.start());
  EXPECT_EQ(ask("hello\n"), "<hello>\n");
  EXPECT_EQ(ask("\n"), "<>\n");
  EXPECT_EQ(ask(std::string(4'095, 'x') + "\n"), "<" + std::string(4'095, 'x') + ">\n");
}

TEST_F(Control, DropsWhatIsTooLong) {
  ASSERT_TRUE(socket_.start());
  EXPECT_EQ(ask(std::string(100'000, 'x')), "");
  EXPECT_EQ(ask("still there\n"), "<still there>\n");
}

TEST_F(Control, IsForOwnerAndGroup) {
  ASSERT_TRUE(socket_.start());
  struct stat found {};
  ASSERT_EQ(::stat(path_.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0660U);
}

TEST_F(Control, TakesThePlaceOfADeadDaemonAndNotOfALivingOne) {
  {
    asio::io_context dead_loop;
    Protocol::acceptor dead(dead_loop, Protocol::endpoint(path_));
  }
  ASSERT_TRUE(std::filesystem::exists(path_)) << "the leftover";
  ASSERT_TRUE(socket_.start());
  EXPECT_EQ(ask("x\n"), "<x>\n");
  ControlSocket second(loop_.get_executor(), path_, echo);
  const Result<Done> refused = second.start();
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().detail, HasSubstr("another daemon listens there"));
  second.stop();
  EXPECT_EQ(ask("x\n"), "<x>\n") << "the second must not take the first one's socket away";
}

TEST_F(Control, LeavesAFileThatIsNoSocketAlone) {
  std::ofstream(path_) << "precious";
  const Result<Done> refused = socket_.start();
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().detail, HasSubstr("no socket"));
  EXPECT_EQ(std::filesystem::file_size(path_), 8U);
}

TEST_F(Control, SaysThatANameIsTooLong) {
  ControlSocket socket(loop_.get_executor(), "/tmp/" + std::string(200, 'x'), echo);
  const Result<Done> refused = socket.start();
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().detail, HasSubstr("longer than the name of a socket may be"));
}

TEST_F(Control, ServesOthersWhileSilentClientsHoldAllPlacesButOne) {
  ASSERT_TRUE(socket_.start());
  std::vector<Protocol::socket> silent;
  for (std::size_t i = 0; i + 1 < ControlSocket::kClientsMax; ++i) {
    silent.emplace_back(loop_).connect(Protocol::endpoint(path_));
  }
  EXPECT_EQ(ask("x\n"), "<x>\n");
}

// Eight silent clients hold every place for 5 s, not for ever.
TEST_F(Control, CutsClientsThatSayNothing) {
  ASSERT_TRUE(socket_.start());
  std::vector<Protocol::socket> silent;
  for (std::size_t i = 0; i < ControlSocket::kClientsMax; ++i) {
    silent.emplace_back(loop_).connect(Protocol::endpoint(path_));
  }
  EXPECT_EQ(ask("x\n"), "<x>\n");
}

TEST_F(Control, GoesWhenItStops) {
  ASSERT_TRUE(socket_.start());
  socket_.stop();
  EXPECT_FALSE(std::filesystem::exists(path_));
  EXPECT_EQ(ask("x\n"), "refused");
}

}  // namespace
}  // namespace order_timeout::daemon

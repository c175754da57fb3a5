// stock-service: the sample shop's stock service as a program of its own. Serves until SIGINT or
// SIGTERM.
#include <pthread.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <exception>
#include <iostream>
#include <string>

#include "support/stock_service.hpp"

namespace {

using order_timeout::stock::StockService;

struct Address {
  std::string host;
  std::uint16_t port = 0;
};

Address parse_address(const std::string& text) {
  const auto colon = text.rfind(':');
  if (colon == std::string::npos) throw std::invalid_argument("--listen takes HOST:PORT");
  const int port = std::stoi(text.substr(colon + 1));
  if (port < 0 || port > 65'535) throw std::invalid_argument("--listen: no such port");
  return {text.substr(0, colon), static_cast<std::uint16_t>(port)};
}

void serve(const StockService::Options& options, const sigset_t& stop) {
  const StockService service(options);
  std::cout << "listening on " << options.host << ':' << service.port() << std::endl;
  int signal = 0;
  sigwait(&stop, &signal);
  const auto totals = service.totals();
  std::cout << "stopped: calls=" << totals.calls << " keys=" << totals.keys
            << " effects=" << totals.effects << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"The sample shop's stock service"};
  std::string listen = "127.0.0.1:0";
  StockService::Options options;
  options.book_threads = 8;
  bool in_memory = false;
  app.add_option("--listen", listen, "HOST:PORT; port 0 takes a free one, which is printed");
  app.add_option("--repeat-status", options.repeat_status, "answer to a key applied before");
  auto* database = app.add_option("--database", options.database_url, "URL of the shop's database");
  auto* memory = app.add_flag("--in-memory", in_memory, "keep the books in memory");
  database->excludes(memory);
  CLI11_PARSE(app, argc, argv);
  if (!in_memory && options.database_url.empty()) {
    std::cerr << "stock-service: give --database URL or --in-memory\n";
    return 64;
  }
  // Blocked before the first thread starts, so that only sigwait() sees them.
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGINT);
  sigaddset(&stop, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &stop, nullptr);
  try {
    const auto address = parse_address(listen);
    options.host = address.host;
    options.port = address.port;
    serve(options, stop);
  } catch (const std::exception& error) {
    std::cerr << "stock-service: " << error.what() << '\n';
    return 1;
  }
  return 0;
}

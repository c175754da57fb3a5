// For the tests of order-timeoutctl: the sample shop, a configuration, and the tool run on it.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <string>
#include <vector>

#include "support/daemon_process.hpp"
#include "support/program.hpp"
#include "support/shop_fixture.hpp"

namespace order_timeout::testing {

class CtlFixture : public ShopFixture {
 protected:
  CtlFixture() { daemon_.write_configuration(); }

  // order-timeoutctl with the configuration and --set of `daemon_`, and these words.
  ProgramRun ctl(const std::vector<std::string>& words) const {
    std::vector<std::string> all = {ORDER_TIMEOUTCTL, "--config", daemon_.config_file().string()};
    const std::vector<std::string> places = daemon_.place_arguments();
    all.insert(all.end(), places.begin(), places.end());
    all.insert(all.end(), words.begin(), words.end());
    return run_program(std::move(all));
  }
  // As an operator.
  ProgramRun operate(const std::vector<std::string>& words) const {
    std::vector<std::string> all = {"--url", url("order_timeout_operator")};
    all.insert(all.end(), words.begin(), words.end());
    return ctl(all);
  }
  ProgramRun ctl_on(const std::string& database_url, const std::vector<std::string>& words) const {
    std::vector<std::string> all = {"--url", database_url};
    all.insert(all.end(), words.begin(), words.end());
    return ctl(all);
  }
  // The rules in force, as a daemon writes them at its start.
  void put_rules_in_force() {
    daemon_.start();
    ASSERT_TRUE(daemon_.await_ready());
    ASSERT_EQ(daemon_.terminate(), 0);
  }

  DaemonProcess daemon_{DaemonSetup{.database_url = url(), .extra = "log: {level: warn}\n"}};
};

}  // namespace order_timeout::testing

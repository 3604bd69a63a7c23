//! `prismux proxy` and `prismux member`.

use crate::args::DaemonArguments;
use crate::failure::Failure;
use prismux_datapath::config::{ConfigError, MemberConfig, ProxyConfig};
use prismux_datapath::{logging, member, proxy};

pub(crate) fn proxy(arguments: &DaemonArguments) -> Result<(), Failure> {
    let config = ProxyConfig::load(&arguments.config).map_err(bad_file)?;
    logging::init(arguments.log_format.into(), arguments.log_level);
    proxy::run(config).map_err(Failure::failed)
}

pub(crate) fn member(arguments: &DaemonArguments) -> Result<(), Failure> {
    let config = MemberConfig::load(&arguments.config).map_err(bad_file)?;
    logging::init(arguments.log_format.into(), arguments.log_level);
    member::run(config).map_err(Failure::failed)
}

fn bad_file(error: ConfigError) -> Failure {
    Failure::Usage(error.to_string())
}

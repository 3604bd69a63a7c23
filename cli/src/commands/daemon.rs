//! `prismux proxy`, `prismux member` and `prismux keygen`.

use crate::args::{DaemonArguments, KeygenArguments, ProxyArguments};
use crate::failure::Failure;
use prismux_daemons::config::{self, ConfigError, MemberConfig, ProxyConfig};
use prismux_daemons::{logging, member, proxy};

pub(crate) fn proxy(arguments: &ProxyArguments) -> Result<(), Failure> {
    let mut config = ProxyConfig::load(&arguments.daemon.config).map_err(bad_file)?;
    config.workers = arguments.daemon.workers.unwrap_or(config.workers);
    if arguments.record.is_some() {
        config.record.clone_from(&arguments.record);
    }
    logging::init(arguments.daemon.log_format.into(), arguments.daemon.log_level);
    proxy::run(config).map_err(Failure::failed)
}

pub(crate) fn member(arguments: &DaemonArguments) -> Result<(), Failure> {
    let mut config = MemberConfig::load(&arguments.config).map_err(bad_file)?;
    config.workers = arguments.workers.unwrap_or(config.workers);
    logging::init(arguments.log_format.into(), arguments.log_level);
    member::run(config).map_err(Failure::failed)
}

pub(crate) fn keygen(arguments: &KeygenArguments) -> Result<(), Failure> {
    let public = config::make_private_key(&arguments.file).map_err(Failure::failed)?;
    println!("{public}");
    Ok(())
}

fn bad_file(error: ConfigError) -> Failure {
    Failure::Usage(error.to_string())
}

//! `prismux route`: a host of an ad-hoc network.
use crate::args::RouteArguments;
use crate::failure::Failure;
use prismux_daemons::route::config::RouteConfig;
use prismux_daemons::{logging, route};

pub(crate) fn run(arguments: &RouteArguments) -> Result<(), Failure> {
    let protocol = match arguments.hello {
        true => arguments.protocol.with_hello().map_err(Failure::Usage)?,
        false => arguments.protocol,
    };
    let config = RouteConfig {
        protocol,
        address: arguments.address,
        radio: arguments.radio.clone(),
        device: arguments.device.clone(),
        mtu_bytes: arguments.mtu,
        status_socket: arguments.status_socket.clone(),
    };
    logging::init(arguments.log_format.into(), arguments.log_level);
    route::run(config).map_err(Failure::failed)
}

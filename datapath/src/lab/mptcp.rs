//! The kernel's MPTCP path manager, by generic netlink: which addresses may start subflows, and how many.
use super::netlink::{Message, Netlink, NetlinkError, attributes};
use std::io;
use std::net::Ipv4Addr;

// linux/genetlink.h
const GENL_HEADER_BYTES: usize = 4;
const CTRL_CMD_GETFAMILY: u8 = 3;
const CTRL_ATTR_FAMILY_ID: u16 = 1;
const CTRL_ATTR_FAMILY_NAME: u16 = 2;
const GENL_ID_CTRL: u16 = 16;

// linux/mptcp_pm.h
const MPTCP_PM_VERSION: u8 = 1;
const MPTCP_PM_CMD_ADD_ADDR: u8 = 1;
const MPTCP_PM_CMD_SET_LIMITS: u8 = 5;
const MPTCP_PM_ATTR_ADDR: u16 = 1;
const MPTCP_PM_ATTR_RCV_ADD_ADDRS: u16 = 2;
const MPTCP_PM_ATTR_SUBFLOWS: u16 = 3;
const MPTCP_PM_ADDR_ATTR_FAMILY: u16 = 1;
const MPTCP_PM_ADDR_ATTR_ADDR4: u16 = 3;
const MPTCP_PM_ADDR_ATTR_FLAGS: u16 = 6;
const MPTCP_PM_ADDR_FLAG_SUBFLOW: u32 = 1 << 1;

/// The most extra subflows that the kernel allows.
pub(super) const MOST_EXTRA_SUBFLOWS: usize = 8;

/// Lets connections of the calling thread's namespace have as many subflows as the kernel allows, and start one
/// from each of `addresses`.
///
/// # Errors
/// A kernel without MPTCP says so when the family is looked up.
pub(super) fn configure(addresses: &[Ipv4Addr]) -> Result<(), NetlinkError> {
    let failed = |request: &str| {
        let request = request.to_owned();
        move |source| NetlinkError { request, source }
    };
    let socket = Netlink::open(libc::NETLINK_GENERIC).map_err(failed("open a generic netlink socket"))?;
    let family = family(&socket)?;
    let command =
        |command, request: String| Message::new(family, 0, &[command, MPTCP_PM_VERSION, 0, 0], request);
    let most = (MOST_EXTRA_SUBFLOWS as u32).to_ne_bytes();
    let mut requests = vec![
        command(MPTCP_PM_CMD_SET_LIMITS, "set the limits of MPTCP".to_owned())
            .with(MPTCP_PM_ATTR_RCV_ADD_ADDRS, &most)
            .with(MPTCP_PM_ATTR_SUBFLOWS, &most),
    ];
    for address in addresses {
        let request = command(MPTCP_PM_CMD_ADD_ADDR, format!("make {address} an endpoint of MPTCP"));
        requests.push(request.with_nested(MPTCP_PM_ATTR_ADDR, |endpoint| {
            endpoint
                .with(MPTCP_PM_ADDR_ATTR_FAMILY, &(libc::AF_INET as u16).to_ne_bytes())
                .with(MPTCP_PM_ADDR_ATTR_ADDR4, &address.octets())
                .with(MPTCP_PM_ADDR_ATTR_FLAGS, &MPTCP_PM_ADDR_FLAG_SUBFLOW.to_ne_bytes())
        }));
    }
    socket.send(requests)
}

/// The number of the path manager's netlink family.
fn family(socket: &Netlink) -> Result<u16, NetlinkError> {
    let request = "find MPTCP's path manager (is CONFIG_MPTCP on and net.mptcp.enabled 1?)";
    let ask = Message::new(GENL_ID_CTRL, 0, &[CTRL_CMD_GETFAMILY, 1, 0, 0], request)
        .with(CTRL_ATTR_FAMILY_NAME, b"mptcp_pm\0");
    let answer = socket.ask(ask)?;
    let id =
        attributes(&answer, GENL_HEADER_BYTES).into_iter().find(|(kind, _)| *kind == CTRL_ATTR_FAMILY_ID);
    id.and_then(|(_, value)| value.try_into().ok()).map(u16::from_ne_bytes).ok_or_else(|| NetlinkError {
        request: request.to_owned(),
        source: io::Error::from(io::ErrorKind::InvalidData),
    })
}

//! The kernel's MPTCP path manager, by generic netlink: which addresses may start subflows, and how many.
use prismux_linux::netlink::{Message, Netlink, NetlinkError, attributes};
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
const MPTCP_PM_CMD_DEL_ADDR: u8 = 2;
const MPTCP_PM_CMD_SET_LIMITS: u8 = 5;
const MPTCP_PM_ATTR_ADDR: u16 = 1;
const MPTCP_PM_ATTR_RCV_ADD_ADDRS: u16 = 2;
const MPTCP_PM_ATTR_SUBFLOWS: u16 = 3;
const MPTCP_PM_ADDR_ATTR_FAMILY: u16 = 1;
const MPTCP_PM_ADDR_ATTR_ID: u16 = 2;
const MPTCP_PM_ADDR_ATTR_ADDR4: u16 = 3;
const MPTCP_PM_ADDR_ATTR_FLAGS: u16 = 6;
const MPTCP_PM_ADDR_FLAG_SUBFLOW: u32 = 1 << 1;

/// The most extra subflows that the kernel allows a connection.
const MAX_EXTRA_SUBFLOWS: u32 = 8;

/// An address of this node from which subflows may start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MptcpEndpoint {
    /// Its number in the namespace, at least 1.
    pub id: u8,
    pub address: Ipv4Addr,
}

/// The path manager of the namespace in which this was opened.
pub(super) struct PathManager {
    socket: Netlink,
    family: u16,
}

impl PathManager {
    /// Opens the path manager of the calling thread's namespace.
    ///
    /// # Errors
    /// A kernel without MPTCP says so here.
    pub fn open() -> Result<Self, NetlinkError> {
        let request = "open a generic netlink socket".to_owned();
        let socket =
            Netlink::open(libc::NETLINK_GENERIC).map_err(|source| NetlinkError { request, source })?;
        let family = family(&socket)?;
        Ok(Self { socket, family })
    }

    /// Lets connections have as many subflows as the kernel allows.
    ///
    /// # Errors
    /// What the kernel answers, one without MPTCP among it.
    pub fn allow_subflows(&self) -> Result<(), NetlinkError> {
        let most = MAX_EXTRA_SUBFLOWS.to_ne_bytes();
        let request = self.command(MPTCP_PM_CMD_SET_LIMITS, "set the limits of MPTCP".to_owned());
        self.socket
            .send(vec![request.with(MPTCP_PM_ATTR_RCV_ADD_ADDRS, &most).with(MPTCP_PM_ATTR_SUBFLOWS, &most)])
    }

    /// Starts a subflow of every connection, present and future, from this address.
    ///
    /// # Errors
    /// What the kernel answers.
    pub fn add(&self, endpoint: MptcpEndpoint) -> Result<(), NetlinkError> {
        let request =
            self.command(MPTCP_PM_CMD_ADD_ADDR, format!("make {} an endpoint of MPTCP", endpoint.address));
        let request = request.with_nested(MPTCP_PM_ATTR_ADDR, |attributes| {
            describe(attributes, endpoint)
                .with(MPTCP_PM_ADDR_ATTR_FLAGS, &MPTCP_PM_ADDR_FLAG_SUBFLOW.to_ne_bytes())
        });
        self.socket.send(vec![request])
    }

    /// Ends the subflows from this address and tells the other end.
    ///
    /// # Errors
    /// What the kernel answers.
    pub fn remove(&self, endpoint: MptcpEndpoint) -> Result<(), NetlinkError> {
        let what = format!("take {} from the endpoints of MPTCP", endpoint.address);
        let request = self.command(MPTCP_PM_CMD_DEL_ADDR, what);
        self.socket
            .send(vec![request.with_nested(MPTCP_PM_ATTR_ADDR, |attributes| describe(attributes, endpoint))])
    }

    fn command(&self, command: u8, request: String) -> Message {
        Message::new(self.family, 0, &[command, MPTCP_PM_VERSION, 0, 0], request)
    }
}

fn describe(attributes: Message, endpoint: MptcpEndpoint) -> Message {
    attributes
        .with(MPTCP_PM_ADDR_ATTR_FAMILY, &(libc::AF_INET as u16).to_ne_bytes())
        .with(MPTCP_PM_ADDR_ATTR_ID, &[endpoint.id])
        .with(MPTCP_PM_ADDR_ATTR_ADDR4, &endpoint.address.octets())
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

//! A home with two uplinks behind the NAT of two providers, a server, and a host to talk to:
//!
//! ```text
//!   internet 203.0.113.10 ─┐    ┌─ emulated ─ provider 1 (NAT) ─ 192.168.1.0/24 ─ wan0 ┐
//!                          core ┤                                                      home ─ 192.168.50.0/24 ─ lan
//!   server 192.0.2.1 ──────┘    └─ emulated ─ provider 2 (NAT) ─ 192.168.1.0/24 ─ wan1 ┘
//! ```
//!
//! Both providers give the same subnet. The server and the home have folders `/etc`, `/run` and `/var/lib` of their
//! own. Of homes, with providers of their own, there may be several.
use crate::emulator::{Emulated, Emulator, Line};
use prismux_linux::namespace::Namespace;
use prismux_linux::netconf;
use prismux_linux::netlink;
use prismux_linux::tun::Tun;
use prismux_namespaces::dropped_by_sockets;
use std::os::fd::{AsFd, AsRawFd};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

pub const INTERNET: &str = "203.0.113.10";

/// Nobody waits longer.
const LIFETIME_S: &str = "600";

/// Each provider's line, towards the home and from it.
pub const LINES: [[Line; 2]; 2] = [
    [Line::new(20.0, 15, 100_000), Line::new(10.0, 15, 60_000)],
    [Line::new(10.0, 25, 80_000), Line::new(5.0, 25, 40_000)],
];

pub struct Network {
    pub internet: Namespace,
    pub server: Machine,
    pub sites: Vec<Site>,
    pub lines: Arc<Emulated>,
    pub core: Namespace,
    _emulator: Emulator,
}

/// A home, the network behind it, and its providers.
pub struct Site {
    pub home: Machine,
    pub lan: Namespace,
    pub providers: [Namespace; 2],
}

impl Network {
    /// With one home.
    pub fn new() -> Self {
        Self::with_homes(1)
    }

    /// The lines of the home `n` are `2 * n` and the next.
    pub fn with_homes(homes: usize) -> Self {
        Self::with(&LINES.repeat(homes))
    }

    /// With one home, whose lines are these.
    pub fn with_lines(lines: [[Line; 2]; 2]) -> Self {
        Self::with(&lines)
    }

    /// Each home has two of the lines.
    fn with(lines: &[[Line; 2]]) -> Self {
        let (internet, core, server) = (space(), space(), Machine::start(space()));
        forward(&core);
        wire(&internet, "eth0", "203.0.113.10/24", &core, "internet", "203.0.113.1/24");
        wire(&server.space, "eth0", "192.0.2.1/24", &core, "server", "192.0.2.254/24");
        ip(&internet, "route add default via 203.0.113.1");
        ip(&server.space, "route add default via 192.0.2.254");
        let mut ends = Vec::new();
        let sites = (0..lines.len() / 2).map(|n| Site::new(&core, 2 * n, &mut ends)).collect();
        let lines = Arc::new(Emulated::new(lines.to_vec()));
        let emulator = Emulator::start(ends, Arc::clone(&lines));
        Self { internet, server, sites, lines, core, _emulator: emulator }
    }

    /// Packets that queues of sockets and devices had no room for, anywhere on the first home's way to the internet.
    pub fn dropped(&self) -> u64 {
        let Site { home, lan, providers } = &self.sites[0];
        let hosts = [&self.internet, &self.core, &self.server.space, &home.space, lan];
        hosts.into_iter().chain(providers).map(dropped_in).sum()
    }

    /// The first home.
    pub fn home(&self) -> &Machine {
        &self.sites[0].home
    }

    /// Unplugs the first home's uplink `n`.
    pub fn unplug(&self, n: usize) {
        ip(&self.home().space, &format!("link set wan{n} down"));
    }

    /// Gives the first home's uplink `n` another address, and takes the present one away: 192.168.1.`from` and `to`.
    pub fn readdress(&self, n: usize, from: usize, to: usize) {
        self.take_address(n, from);
        self.give_address(n, to);
    }

    /// Takes the first home's uplink `n` its address; its route goes with the last one.
    pub fn take_address(&self, n: usize, from: usize) {
        ip(&self.home().space, &format!("address delete 192.168.1.{from}/24 dev wan{n}"));
    }

    /// Gives it one, and a default route.
    pub fn give_address(&self, n: usize, to: usize) {
        ip(&self.home().space, &format!("address add 192.168.1.{to}/24 dev wan{n}"));
        default_route(&self.home().space, n);
    }

    /// Plugs it in again; its address management brings back the route that went.
    pub fn plug(&self, n: usize) {
        ip(&self.home().space, &format!("link set wan{n} up"));
        default_route(&self.home().space, n);
    }
}

impl Site {
    /// A home whose first line has this number; the lines' ends go to `ends`.
    fn new(core: &Namespace, first_line: usize, ends: &mut Vec<(Tun, Tun)>) -> Self {
        let (home, lan, providers) = (Machine::start(space()), space(), [space(), space()]);
        wire(&home.space, "lan0", "192.168.50.1/24", &lan, "eth0", "192.168.50.10/24");
        ip(&lan, "route add default via 192.168.50.1");
        for (n, provider) in providers.iter().enumerate() {
            forward(provider);
            let line = first_line + n;
            let (near, far) =
                (format!("198.51.100.{}", 4 * line + 1), format!("198.51.100.{}", 4 * line + 2));
            let device = |space: &Namespace, name: &str, own: &str, other: &str| {
                let tun = space.enter(|| Tun::create(name)).unwrap().unwrap();
                ip(space, &format!("link set {name} mtu 1500 up"));
                ip(space, &format!("address add {own} peer {other} dev {name}"));
                tun
            };
            let core_end = device(core, &format!("line{line}"), &near, &far);
            ends.push((core_end, device(provider, "up0", &far, &near)));
            ip(provider, "route add default dev up0");
            wire(
                provider,
                "customer",
                "192.168.1.1/24",
                &home.space,
                &format!("wan{n}"),
                &format!("192.168.1.{}/24", n + 2),
            );
            nat(provider);
            default_route(&home.space, n);
        }
        Self { home, lan, providers }
    }
}

/// A network namespace.
pub fn space() -> Namespace {
    let space = Namespace::create().expect("a network namespace");
    ip(&space, "link set lo up");
    // Duplicate address detection would change addresses while they are looked at.
    let settings = ["ipv6/conf/all/accept_dad=0", "ipv6/conf/default/accept_dad=0"];
    space.enter(|| settings.iter().for_each(|setting| set(setting))).unwrap();
    space
}

/// What sockets for UDP and devices of a namespace had no room for.
fn dropped_in(space: &Namespace) -> u64 {
    let devices = space.enter(|| std::fs::read_to_string("/proc/thread-self/net/dev")).unwrap().unwrap();
    // Behind a device's name, the twelfth number.
    let of_device = |line: &str| line.split_once(':')?.1.split_whitespace().nth(11)?.parse::<u64>().ok();
    devices.lines().filter_map(of_device).sum::<u64>() + dropped_by_sockets(space)
}

fn forward(router: &Namespace) {
    let settings = ["ipv4/ip_forward=1", "ipv6/conf/all/forwarding=1"];
    router.enter(|| settings.iter().for_each(|setting| set(setting))).unwrap();
}

fn default_route(home: &Namespace, n: usize) {
    ip(home, &format!("route add default via 192.168.1.1 dev wan{n} metric {}", 100 * (n + 1)));
}

/// A host with processes, and with `/etc`, `/run` and `/var/lib` of its own; all of it ends with this.
pub struct Machine {
    pub space: Namespace,
    keeper: Child,
}

impl Machine {
    pub fn start(space: Namespace) -> Self {
        let mut command = Command::new("unshare");
        command.args(["--mount", "--pid", "--fork", "--kill-child", "sh", "-c"]);
        command.arg(format!(
            "mount -t tmpfs none /etc && mount -t tmpfs none /run && mount -t tmpfs none /var/lib && echo ready && \
             sleep {LIFETIME_S}"
        ));
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        space.host(&mut command);
        let mut keeper = command.spawn().expect("unshare of util-linux");
        let mut ready = [0; 6];
        let stdout = keeper.stdout.as_mut().unwrap();
        std::io::Read::read_exact(stdout, &mut ready).expect("folders of its own");
        Self { space, keeper }
    }

    /// The process inside the namespaces.
    fn inside(&self) -> String {
        let file = format!("/proc/{0}/task/{0}/children", self.keeper.id());
        std::fs::read_to_string(file).unwrap().split_whitespace().next().expect("a child").to_owned()
    }

    /// Runs a command line and returns what it prints; panics when it fails.
    pub fn run(&self, line: &str) -> String {
        let output = self.try_run(line);
        assert!(output.0, "{line}: {}", output.1);
        output.1
    }

    /// Runs a command line: whether it succeeded, and what it printed.
    pub fn try_run(&self, line: &str) -> (bool, String) {
        let output = self.command(line).output().expect("nsenter of util-linux");
        let mut said = String::from_utf8_lossy(&output.stdout).into_owned();
        if !output.status.success() {
            said.push_str(&String::from_utf8_lossy(&output.stderr));
        }
        (output.status.success(), said)
    }

    /// Starts what runs until the machine ends.
    pub fn spawn(&self, line: &str) {
        let mut command = self.command(line);
        let mut child =
            command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("nsenter of util-linux");
        std::thread::spawn(move || child.wait());
    }

    fn command(&self, line: &str) -> Command {
        let program = program();
        let mut words = line.split_whitespace();
        let mut command = Command::new("nsenter");
        command.args(["--mount", "--pid", "--net", "--target", &self.inside(), "--"]);
        command.arg(match words.next() {
            Some("prismux") => &program,
            other => other.unwrap(),
        });
        command.args(words).stdin(Stdio::null());
        command
    }

    /// Adds to a file of its own.
    pub fn append(&self, file: &str, text: &str) {
        let mut command = Command::new("nsenter");
        command.args(["--mount", "--pid", "--target", &self.inside(), "--", "tee", "-a", file]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("tee");
        std::io::Write::write_all(child.stdin.as_mut().unwrap(), text.as_bytes()).unwrap();
        assert!(child.wait().unwrap().success(), "{file}");
    }

    /// Everything that a daemon could leave behind: addresses, routes, rules, NAT, settings, files.
    pub fn configuration(&self) -> String {
        let shown = [
            "ip -oneline address",
            "ip route show table all",
            "ip -6 route show table all",
            "ip rule",
            "ip -6 rule",
            "nft list ruleset",
            "sysctl net.ipv4.ip_forward net.ipv4.conf.all.rp_filter net.ipv4.conf.eth0.rp_filter \
             net.ipv4.conf.wan0.rp_filter net.ipv4.conf.wan1.rp_filter --ignore",
            "find /run",
        ];
        shown.map(|line| self.run(line)).join("--\n")
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = self.keeper.kill();
        let _ = self.keeper.wait();
    }
}

/// The command under test: cargo's, or another build that the environment names.
pub fn program() -> String {
    std::env::var("PRISMUX").unwrap_or_else(|_| env!("CARGO_BIN_EXE_prismux").to_owned())
}

/// Runs `ip` in a namespace.
pub fn ip(space: &Namespace, arguments: &str) {
    space.enter(|| netconf::ip(arguments)).unwrap().unwrap_or_else(|error| panic!("{error}"));
}

/// Writes a setting below `/proc/sys/net`, given as `file=value`; one that this kernel does not have is left.
fn set(setting: &str) {
    let (file, value) = setting.split_once('=').unwrap();
    let _ = std::fs::write(format!("/proc/sys/net/{file}"), value);
}

/// A provider's NAT, which forgets a UDP flow after 30 s.
fn nat(provider: &Namespace) {
    let script = "add table ip nat; add chain ip nat out { type nat hook postrouting priority srcnat; }; \
                  add rule ip nat out oifname up0 masquerade";
    let run = || Command::new("nft").arg(script).output();
    let output = provider.enter(run).unwrap().expect("nft");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    provider.enter(|| set("netfilter/nf_conntrack_udp_timeout=30")).unwrap();
}

/// A virtual Ethernet cable.
pub fn wire(a: &Namespace, a_device: &str, a_address: &str, b: &Namespace, b_device: &str, b_address: &str) {
    let other = format!("/proc/{}/fd/{}", std::process::id(), b.as_fd().as_raw_fd());
    ip(a, &format!("link add name {a_device} type veth peer name {b_device} netns {other}"));
    for (space, device, address) in [(a, a_device, a_address), (b, b_device, b_address)] {
        ip(space, &format!("address add {address} dev {device}"));
        ip(space, &format!("link set {device} up"));
    }
    for (space, device) in [(a, a_device), (b, b_device)] {
        space.enter(|| netlink::wait_until_it_sends(device, Duration::from_secs(10))).unwrap().unwrap();
    }
}

/// Asks until the answer is yes; panics after a while.
pub fn wait_for(what: &str, mut answer: impl FnMut() -> bool) {
    for _ in 0..400 {
        if answer() {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("waited in vain: {what}");
}

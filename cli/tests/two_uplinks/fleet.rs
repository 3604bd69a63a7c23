//! The guide "A fleet of gateways": two gateways behind a balancer, their homes in a real etcd; the gateway of a home
//! is killed, and so is etcd.
use crate::network::{INTERNET, Machine, Network, ip, space, wait_for, wire};
use crate::transfer::{Direction, Transfer};
use crate::{links, page};
use serde_json::Value;
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Ports of the homes, from the first.
const FIRST_PORT: u16 = 51820;
const PORTS: u16 = 4;
/// A lease of two seconds, the balancer's look, and a call of the home's that finds the new gateway; on busy machines.
const TAKEOVER: Duration = Duration::from_secs(20);

const ETCD: &str = "etcd --data-dir /var/lib/etcd --listen-client-urls http://0.0.0.0:2379 \
                    --advertise-client-urls http://192.0.2.1:2379 --listen-peer-urls http://127.0.0.1:2380 \
                    --initial-advertise-peer-urls http://127.0.0.1:2380 \
                    --initial-cluster default=http://127.0.0.1:2380 >>/run/etcd.log 2>&1 </dev/null & \
                    echo $! >/run/etcd.pid\n";

/// What balances, with the registry on it, and the gateways behind it.
struct Fleet {
    network: Network,
    gateways: [Machine; 2],
}

impl Fleet {
    fn new() -> Self {
        let network = Network::new();
        let balancer = &network.server;
        balancer.run("sysctl -q -w net.ipv4.ip_forward=1");
        let gateways = [1, 2].map(|n| {
            let gateway = Machine::start(space());
            let (near, far) = (format!("10.0.{n}.1/24"), format!("10.0.{n}.2/24"));
            wire(&balancer.space, &format!("gw{n}"), &near, &gateway.space, "eth0", &far);
            ip(&gateway.space, &format!("route add default via 10.0.{n}.1"));
            gateway
        });
        ip(&network.core, "route add 10.0.0.0/16 via 192.0.2.1");
        balancer.append("/etc/start-etcd", ETCD);
        for (script, signal) in [("stop", "KILL"), ("hang", "STOP"), ("go-on", "CONT")] {
            balancer
                .append(&format!("/etc/{script}-etcd"), &format!("kill -{signal} $(cat /run/etcd.pid)\n"));
        }
        let fleet = Self { network, gateways };
        fleet.network.server.run("sh /etc/start-etcd");
        fleet.let_only_users_in();
        fleet.write_files();
        fleet
    }

    /// Users of etcd, as the guide has them.
    fn let_only_users_in(&self) {
        let server = &self.network.server;
        wait_for("etcd listens", || server.try_run("etcdctl endpoint health").0);
        for words in [
            "user add prismux:registry-password",
            "role add prismux",
            "role grant-permission prismux --prefix=true readwrite prismux/",
            "user grant-role prismux prismux",
            "user add root:root-password",
            "user grant-role root root",
            "auth enable",
        ] {
            server.run(&format!("env ETCDCTL_API=3 etcdctl {words}"));
        }
    }

    /// The gateways share their key, and say where they are.
    fn write_files(&self) {
        let [first, second] = &self.gateways;
        for machine in [first, second, &self.network.server] {
            machine.run("mkdir -p /etc/prismux");
        }
        first.run("prismux keygen /etc/prismux/key");
        let key = first.run("cat /etc/prismux/key");
        for machine in [second, &self.network.server] {
            machine.append("/etc/prismux/key", &key);
            machine.run("chmod 600 /etc/prismux/key");
        }
        for (n, machine) in [(1, first), (2, second), (0, &self.network.server)] {
            let text = format!(
                "role = \"gateway\"\nendpoint = \"192.0.2.1:{FIRST_PORT}\"\nprivate_key_file = \
                 \"/etc/prismux/key\"\n\n[registry]\nendpoints = [\"192.0.2.1:2379\"]\nallow_plain = true\nname = \
                 \"gateway-{n}\"\naddress = \"10.0.{n}.2\"\nnetwork = [\"10.77.0.0/16\"]\nports = {PORTS}\nlease = \
                 \"2 s\"\nuser = \"prismux\"\npassword_file = \"/etc/prismux/registry.password\"\n"
            );
            machine.append("/etc/prismux/gateway.toml", &text);
            machine.append("/etc/prismux/registry.password", "registry-password\n");
            machine.run("chmod 600 /etc/prismux/registry.password");
        }
    }

    fn status(&self) -> Value {
        let (is_done, said) = self.network.server.try_run("prismux fleet status --json");
        if is_done { serde_json::from_str(&said).expect("JSON") } else { Value::Null }
    }

    /// The index of the gateway that serves the home, by the registry.
    fn serving(&self) -> Option<usize> {
        let status = self.status();
        let home = status["homes"].as_array()?.iter().find(|home| home["name"] == "house")?;
        match home["serving"]["gateway"].as_str()? {
            "gateway-1" => Some(0),
            "gateway-2" => Some(1),
            _ => None,
        }
    }

    /// Leads each port to a gateway that lives, without keeping track of flows, as the guide says.
    fn balance(&self, living: &[String]) {
        if living.is_empty() {
            return;
        }
        let place = |n: u16| format!("{} : {}", FIRST_PORT + n, living[usize::from(n) % living.len()]);
        let places: Vec<String> = (0..PORTS).map(place).collect();
        let last = FIRST_PORT + PORTS - 1;
        let script = format!(
            "table ip balance\ndelete table ip balance\ntable ip balance {{\nchain in {{\ntype filter hook prerouting \
             priority raw;\nip daddr 192.0.2.1 udp dport {FIRST_PORT}-{last} notrack ip daddr set udp dport map {{ {} \
             }}\n}}\nchain out {{\ntype filter hook postrouting priority 100;\niifname \"gw*\" udp sport \
             {FIRST_PORT}-{last} ip saddr set 192.0.2.1\n}}\n}}\n",
            places.join(", ")
        );
        self.network.server.run("rm -f /run/balance.nft");
        self.network.server.append("/run/balance.nft", &script);
        self.network.server.run("nft -f /run/balance.nft");
    }

    /// Looks who lives, until told to end.
    fn keep_balance(&self, is_over: &AtomicBool) {
        let mut before = Vec::new();
        while !is_over.load(Ordering::Relaxed) {
            let status = self.status();
            let of = |gateway: &Value| gateway["address"].as_str().map(str::to_owned);
            let living: Vec<String> =
                status["gateways"].as_object().into_iter().flatten().filter_map(|(_, g)| of(g)).collect();
            if living != before && !living.is_empty() {
                self.balance(&living);
                before = living;
            }
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    /// Whether a host behind the home reaches one beyond the gateways.
    fn reaches(&self) -> bool {
        let to = SocketAddr::new(INTERNET.parse().unwrap(), 9);
        let connect = || TcpStream::connect_timeout(&to, Duration::from_millis(300));
        let answer = self.network.sites[0].lan.enter(connect).unwrap();
        answer.is_ok() || answer.is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused)
    }

    fn registry(&self, gateway: usize) -> Value {
        page(&self.gateways[gateway])["registry"].clone()
    }
}

/// Written once, a home comes in; its gateway killed, another takes over; its rights taken, all refuse it; and without
/// the registry everything goes on.
pub fn works() {
    let found = Command::new("etcd").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !found.is_ok_and(|status| status.success()) {
        println!("skipped: there is no etcd (Debian: etcd-server)");
        return;
    }
    let fleet = Arc::new(Fleet::new());
    let is_over = Arc::new(AtomicBool::new(false));
    let balancer = {
        let (fleet, is_over) = (Arc::clone(&fleet), Arc::clone(&is_over));
        std::thread::spawn(move || fleet.keep_balance(&is_over))
    };
    let home = fleet.network.home();
    wait_for("etcd answers", || fleet.status() != Value::Null);
    fleet.gateways.iter().for_each(|gateway| drop(gateway.run("prismux up --detach")));
    wait_for("both gateways live", || {
        fleet.status()["gateways"].as_object().is_some_and(|all| all.len() == 2)
    });
    joins(&fleet);
    taken_over(&fleet);
    malformed(&fleet);
    revoked(&fleet);
    registry_hangs(&fleet);
    registry_away(&fleet);
    home.run("prismux down");
    is_over.store(true, Ordering::Relaxed);
    balancer.join().unwrap();
}

fn joins(fleet: &Fleet) {
    let home = fleet.network.home();
    let invitation = fleet.network.server.run("prismux invite house");
    let start = Instant::now();
    wait_for("all gateways know it", || (0..2).all(|n| fleet.registry(n)["homes"] == 1));
    println!("a new home is known to both gateways within {} ms", start.elapsed().as_millis());
    home.run(&format!("prismux join {}", invitation.trim()));
    home.run("prismux up --detach");
    wait_for("both uplinks are up", || links(home, "up") == 2);
    wait_for("the registry says where it is", || fleet.serving().is_some());
    Transfer::start_at(&fleet.network, 0, Direction::Down, 1_000_000).finish();
    let other = fleet.network.server.run("prismux invite flat");
    assert_ne!(other.split(',').nth(2), invitation.split(',').nth(2), "each has an address of its own");
    let (is_done, said) = fleet.network.server.try_run("prismux invite house");
    assert!(!is_done && said.contains("invited already"), "{said}");
}

fn taken_over(fleet: &Fleet) {
    let was = fleet.serving().expect("it is served");
    let pid = page(&fleet.gateways[was])["pid"].to_string();
    fleet.gateways[was].run(&format!("kill -KILL {pid}"));
    let start = Instant::now();
    wait_for("the other gateway serves it", || fleet.serving() == Some(1 - was));
    println!("killed: the registry names the other gateway after {} ms", start.elapsed().as_millis());
    wait_for("packets pass", || fleet.reaches());
    let took = start.elapsed();
    println!("killed: packets pass again after {} ms", took.as_millis());
    assert!(took < TAKEOVER, "{took:?}");
    Transfer::start_at(&fleet.network, 0, Direction::Down, 1_000_000).finish();
    fleet.gateways[was].run("prismux up --detach");
    wait_for("it lives again", || fleet.status()["gateways"].as_object().is_some_and(|all| all.len() == 2));
    wait_for("the home has both uplinks at one gateway", || {
        let up = |n: usize| {
            let page = page(&fleet.gateways[n]);
            page["links"].as_array().unwrap().iter().filter(|link| link["up"] == true).count()
        };
        fleet.serving().is_some_and(|at| (up(at), up(1 - at)) == (2, 0)) && fleet.reaches()
    });
}

fn malformed(fleet: &Fleet) {
    let server = &fleet.network.server;
    let put = "etcdctl put prismux/homes/bad {nonsense";
    assert!(!server.try_run(&format!("env ETCDCTL_API=3 {put}")).0, "strangers write nothing");
    server.run(&format!("env ETCDCTL_API=3 {put} --user prismux:registry-password"));
    wait_for("it is counted", || (0..2).all(|n| fleet.registry(n)["malformed_entries"] == 1));
}

fn revoked(fleet: &Fleet) {
    let home = fleet.network.home();
    fleet.network.server.run("prismux fleet revoke house");
    wait_for("the home is out", || links(home, "up") == 0);
    assert!((0..2).all(|n| fleet.registry(n)["homes"] == 1), "the other one stays");
    fleet.network.server.run("prismux fleet restore house");
    wait_for("it is back", || links(home, "up") == 2 && fleet.reaches());
}

/// Accepts connections and says nothing.
fn registry_hangs(fleet: &Fleet) {
    let transfer = Transfer::start_at(&fleet.network, 0, Direction::Down, 20_000_000);
    wait_for("it is under way", || transfer.arrived() > 500_000);
    let start = Instant::now();
    fleet.network.server.run("sh /etc/hang-etcd");
    wait_for("both have noticed", || (0..2).all(|n| fleet.registry(n)["connected"] == false));
    println!("hanging: both gateways know it after {} ms", start.elapsed().as_millis());
    transfer.finish();
    fleet.network.server.run("sh /etc/go-on-etcd");
    wait_for("both are back", || (0..2).all(|n| fleet.registry(n)["connected"] == true));
    wait_for("the registry says where it is", || fleet.serving().is_some());
}

fn registry_away(fleet: &Fleet) {
    let transfer = Transfer::start_at(&fleet.network, 0, Direction::Down, 20_000_000);
    wait_for("it is under way", || transfer.arrived() > 500_000);
    fleet.network.server.run("sh /etc/stop-etcd");
    wait_for("both have noticed", || (0..2).all(|n| fleet.registry(n)["connected"] == false));
    let before = transfer.arrived();
    wait_for("the download goes on", || transfer.arrived() > before + 500_000);
    transfer.finish();
    begins_without_the_registry(fleet);
    fleet.network.server.run("sh /etc/start-etcd");
    wait_for("both are back", || (0..2).all(|n| fleet.registry(n)["connected"] == true));
    wait_for("the registry says where it is", || fleet.serving().is_some());
    wait_for("what is known is of now", || {
        let page = (0..2).map(|n| fleet.registry(n));
        page.into_iter().all(|registry| registry["known_as_of"].as_u64() > Some(unix_seconds() - 60))
    });
}

/// Killed and started again while nobody tells it which homes there are, a gateway knows them.
fn begins_without_the_registry(fleet: &Fleet) {
    let up = |n: usize| {
        let page = page(&fleet.gateways[n]);
        page["links"].as_array().unwrap().iter().any(|link| link["up"] == true)
    };
    let at = (0..2).find(|&n| up(n)).expect("the home is at one of them");
    assert!(fleet.registry(at)["losses"].as_u64() >= Some(1));
    let pid = page(&fleet.gateways[at])["pid"].to_string();
    fleet.gateways[at].run(&format!("kill -KILL {pid}"));
    let start = Instant::now();
    fleet.gateways[at].run("prismux up --detach");
    wait_for("packets pass", || fleet.reaches());
    println!("begun without the registry: packets pass {} ms after the kill", start.elapsed().as_millis());
    let registry = fleet.registry(at);
    assert_eq!((&registry["connected"], &registry["homes"]), (&Value::Bool(false), &Value::from(2)));
    assert!(registry["known_as_of"].as_u64() > Some(unix_seconds() - 600), "{registry}");
}

fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

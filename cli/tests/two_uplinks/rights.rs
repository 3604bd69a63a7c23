//! A gateway's operator takes a home's rights away while it downloads, and gives them back.
use crate::network::{Machine, Network, wait_for};
use crate::transfer::{Direction, Transfer};
use crate::{invite_another, links, page, type_until};
use std::time::Duration;

/// Longer than a home waits between two calls, and than a gateway needs to call those it knows.
const A_WHILE: Duration = Duration::from_secs(4);

/// Links of a home that the gateway has.
fn links_of(server: &Machine, home: &str) -> usize {
    let page = page(server);
    let links = page["links"].as_array().unwrap();
    links.iter().filter(|link| link["home"] == home && link["up"] == true).count()
}

/// Bytes that both lines of a home have carried down.
fn came_down(network: &Network, home: usize) -> u64 {
    [0, 1].map(|line| network.lines.carried(2 * home + line, Direction::Down as usize)).iter().sum()
}

/// What answers packets that take the box's own default route meanwhile, past the tunnels.
const BESIDE_BYTES: u64 = 1000;

/// Nothing reaches a home any more though it goes on calling.
fn assert_out(network: &Network, when: &str) {
    wait_for(&format!("{when}: what was under way has come"), || {
        let before = came_down(network, 0);
        std::thread::sleep(Duration::from_millis(200));
        came_down(network, 0) - before < BESIDE_BYTES
    });
    let before = came_down(network, 0);
    std::thread::sleep(A_WHILE);
    let came = came_down(network, 0) - before;
    assert!(came < BESIDE_BYTES, "{when}: {came} bytes");
    assert_eq!(links_of(&network.server, "house"), 0, "{when}");
    wait_for(&format!("{when}: the home has noticed"), || links(network.home(), "up") == 0);
}

/// In the middle of a download; the other home does not notice; neither the home's restart nor the gateway's changes
/// it; and when the rights are given back both uplinks are used again.
pub fn revoked() {
    let network = Network::with_homes(2);
    type_until(&network, "prismux status");
    invite_another(&network, &network.sites[1].home);
    let bytes = 100_000_000;
    let transfer = Transfer::start_at(&network, 0, Direction::Down, bytes);
    wait_for("it is under way", || transfer.arrived() > 1_000_000);
    let said = network.server.run("prismux revoke house");
    assert!(said.starts_with("house is out"), "{said}");
    assert_out(&network, "at once");
    assert!(transfer.arrived() < bytes, "it was under way");
    transfer.give_up();
    assert_eq!(page(&network.server)["revoked"], serde_json::json!(["house"]));
    let said = network.server.run("prismux explain house-2");
    assert_eq!(said.trim(), "house-2 is not used: its rights have been revoked.");
    let shown = network.server.run("prismux top --once");
    assert!(shown.contains("its rights have been revoked"), "{shown}");
    Transfer::start_at(&network, 1, Direction::Down, 1_000_000).finish();

    network.home().run("prismux up --detach --restart");
    assert_out(&network, "after the home's restart");
    network.server.run(&format!("kill -KILL {}", page(&network.server)["pid"]));
    wait_for("it is gone", || !network.server.try_run("prismux status").0);
    network.server.run("prismux up --detach");
    wait_for("the other home is back", || links_of(&network.server, "flat") == 2);
    assert_out(&network, "after the gateway's restart");

    let (is_done, said) = network.server.try_run("prismux revoke nobody");
    assert!(!is_done && said.contains("Those with keys: house, flat"), "{said}");
    let (is_done, said) = network.home().try_run("prismux revoke house --socket /run/prismux/home.sock");
    assert!(!is_done && said.contains("ask the gateway"), "{said}");
    network.server.run("prismux revoke house --undo");
    wait_for("it is back", || links(network.home(), "up") == 2);
    let before = came_down(&network, 0);
    Transfer::start_at(&network, 0, Direction::Down, 1_000_000).finish();
    assert!(came_down(&network, 0) > before + 1_000_000);
}

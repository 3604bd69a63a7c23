//! Who hears a frame, by the lists of neighbours and by a search over all hosts.
mod common;

use common::{air, run, unicast};
use prismux_units::{Duration, Instant};
use prismux_wireless::{
    AirEvent, Area, HostId, MacConfig, Mobility, Outgoing, RadioConfig, RandomWaypoint, WaypointStart,
};

#[test]
fn a_frame_reaches_whom_it_reaches_without_the_grid() {
    // 200 hosts that move through 4 km: who decodes a broadcast is who is within 250 m at that moment.
    let area = Area { width_m: 4000.0, height_m: 4000.0 };
    let model = RandomWaypoint {
        area,
        min_speed_m_per_s: 1.0,
        max_speed_m_per_s: 30.0,
        pause: Duration::ZERO,
        start: WaypointStart::Steady,
    };
    let mut air =
        air(RadioConfig::wavelan(), MacConfig::dsss(), vec![Mobility::RandomWaypoint(model); 200], 3);
    for round in 0..300_u32 {
        let now = Instant::ZERO + Duration::from_millis(100) * u64::from(round);
        let sender = HostId(round * 7 % 200);
        let mut heard = Vec::new();
        let packet = Outgoing { to: None, ..unicast(0, 20, 0) };
        air.send(now, sender, packet).expect("an empty queue");
        run(&mut air, now + Duration::from_millis(50), |_, _, event| {
            if let AirEvent::Received { host, .. } = event {
                heard.push(host);
            }
        });
        // DIFS and the propagation delay before the frame begins: less than 2 mm of movement.
        let begins = now + Duration::from_micros(51);
        let range = 250.0;
        let mut clear = Vec::new();
        for host in (0..200).map(HostId).filter(|host| *host != sender) {
            let distance = air.position(begins, host).distance_m(air.position(begins, sender));
            if (distance - range).abs() > 0.1 {
                assert_eq!(
                    heard.contains(&host),
                    distance < range,
                    "{host:?} at {distance} m in round {round}"
                );
                clear.push(host);
            }
        }
        assert!(clear.len() > 190);
    }
}

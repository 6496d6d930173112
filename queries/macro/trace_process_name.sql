-- purpose = "What the process of an event is called if the file does not number it; NULL if it
-- does."
-- source = "docs/export.md, section Perfetto"
-- parameters = "given_process given_thread given_track given_device"
-- given_device = "BIGINT: device_id; NULL on a host"
case
    when given_process is not null
    then null
    when given_track is null
    then coalesce('device ' || given_device, 'host')
    when given_thread is null
    then split_part(given_track, '/', 1)
    else split_part(given_track, ' ', 1)
end

import xml.etree.ElementTree as ET

len(ET.fromstring("<a>" * 500_000 + "</a>" * 500_000))

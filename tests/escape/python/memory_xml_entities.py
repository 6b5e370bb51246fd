# ends: error | timeout | killed
import xml.etree.ElementTree as ET

entities = ['<!ENTITY e0 "lollollollol">']
entities += [f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12)]
ET.fromstring(f"<!DOCTYPE x [{''.join(entities)}]><x>&e11;</x>")
